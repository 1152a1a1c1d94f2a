import CLinux
import Glibc
import Sockets

/// An HTTP/2 server on a loopback address, for the bundled simulator and for tests: it can also do everything that a good server would not.
public final class Server {
    public struct Options: Sendable {
        /// Announced in the first SETTINGS.
        public var maxConcurrentStreams: UInt32 = 1_000
        public var refusal = StreamLimitRefusal.refuseStream
        public var streamWindowBytes: UInt32 = 65_535
        public var connectionWindowBytes: UInt32 = 1_048_576
        /// Never gives received bytes back to the peer's windows.
        public var withholdsWindowUpdates = false
        /// 0: HPACK without a dynamic table.
        public var headerTableBytes: UInt32 = 4_096
        /// Names and values plus 32 a field (RFC 9113 section 6.5.2). Above: RST_STREAM ENHANCE_YOUR_CALM.
        public var maximumHeaderListBytes = 8_000
        /// Counted while receiving.
        public var maximumBodyBytes = 16_384
        public var handshake = HandshakeBehaviour.normal
        /// Above: GOAWAY ENHANCE_YOUR_CALM.
        public var maximumPingsPerSecond = 1_000

        public init() {}
    }

    public let port: UInt16
    /// For connections that are accepted from now on.
    public var options: Options
    public private(set) var connections: [ServerConnection] = []

    /// For connections that are accepted from now on.
    public var tls: TLSContext
    let loop: EventLoop
    var handler: ServerHandler
    private var listener: Listener?
    private var lastIdentifier: UInt64 = 0

    /// - Parameter port: 0 lets the system choose; `port` tells which.
    public init(
        loop: EventLoop, address: String = "127.0.0.1", port: UInt16 = 0, tls: TLSContext, options: Options = Options(),
        handler: ServerHandler
    ) throws(SystemFault) {
        guard let address = SocketAddress(numeric: address, port: port) else {
            throw SystemFault(call: "listen on \(address)", errorNumber: EADDRNOTAVAIL)
        }
        let descriptor = try Socket.listen(on: address)
        do throws(SystemFault) {
            self.port = try Socket.localAddress(of: descriptor).port
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.loop = loop
        self.tls = tls
        self.options = options
        self.handler = handler
        let listener = Listener(descriptor: descriptor, loop: loop)
        listener.server = self
        try loop.add(listener, fileDescriptor: descriptor, events: [.readable, .edgeTriggered])
        self.listener = listener
    }

    deinit { close() }

    public func stopListening() {
        listener?.close()
        listener = nil
    }

    /// Closes the listener, and all connections abruptly.
    public func close() {
        stopListening()
        for connection in connections { connection.resetTransport() }
    }

    fileprivate func accept(_ descriptor: Int32, from peer: SocketAddress) {
        guard handler.accepts(self, from: peer) else {
            Glibc.close(descriptor)
            return
        }
        Socket.sendAtOnce(descriptor)
        lastIdentifier += 1
        do {
            let transport = RecordTransport(
                try TLSTransport(fileDescriptor: descriptor, context: tls, connectingTo: nil))
            let connection = ServerConnection(
                server: self, identifier: lastIdentifier, peer: peer, transport: transport)
            try loop.add(
                connection, fileDescriptor: descriptor, events: [.readable, .writable, .edgeTriggered])
            connections.append(connection)
        } catch {
            // Out of memory or descriptors: this peer is turned away, the next may find room. The transport closes what it was given.
        }
    }

    func forget(_ connection: ServerConnection) { connections.removeAll { $0 === connection } }
}

private final class Listener: EventSource {
    private let loop: EventLoop
    private let descriptor: Int32
    private var isOpen = true
    private var retry: LoopTimer!
    weak var server: Server?

    init(descriptor: Int32, loop: EventLoop) {
        self.descriptor = descriptor
        self.loop = loop
        super.init()
        retry = loop.timer { [weak self] in self?.ready(.readable) }
    }

    override func ready(_ events: ReadyEvents) {
        while isOpen, let server {
            if let (accepted, peer) = Socket.accept(descriptor) {
                server.accept(accepted, from: peer)
            } else if errno == EMFILE || errno == ENFILE || errno == ENOMEM {
                // No new edge will come for who waits already.
                return retry.schedule(atMilliseconds: loop.nowMilliseconds + 100)
            } else if errno != ECONNABORTED, errno != EINTR {
                return
            }
        }
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        retry.cancel()
        loop.remove(self)
        Glibc.close(descriptor)
    }
}
