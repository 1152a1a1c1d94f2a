import COpenSSL
import Glibc
import HTTP2
import Sockets

/// The cheapest server that HTTP/2 clients take for one: it walks over frames, decodes no header, and answers every request alike. Beside
/// it a client is what limits. Belongs to the thread of its loop.
final class Sink: EventSource {
    let port: UInt16
    let loop: EventLoop
    private let tls: TLSContext
    private let maximumStreams: UInt32
    private let listener: Int32
    let timeline: SinkTimeline?

    init(
        loop: EventLoop, tls: TLSContext, timeline: SinkTimeline? = nil, maximumStreams: UInt32 = 1_000
    ) throws(SystemFault) {
        self.timeline = timeline
        self.loop = loop
        self.tls = tls
        self.maximumStreams = maximumStreams
        // Several records a read; and what is compared is compared over one version of TLS.
        SSL_CTX_set_default_read_buffer_len(tls.handle, 131_072)
        SSL_CTX_ctrl(tls.handle, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_3_VERSION), nil)
        (listener, port) = try Self.listen()
        super.init()
        try loop.add(self, fileDescriptor: listener, events: .readable)
    }

    override func ready(_ events: ReadyEvents) {
        while true {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else { return }
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
            var isOn: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
            guard let ssl = SSL_new(tls.handle) else {
                close(descriptor)
                return Self.say("no memory for a TLS connection")
            }
            let connection = SinkConnection(
                sink: self, descriptor: descriptor, ssl: ssl, maximumStreams: maximumStreams)
            do throws(SystemFault) {
                // The loop keeps it until it is forgotten.
                try loop.add(connection, fileDescriptor: descriptor, events: [.readable, .writable, .edgeTriggered])
            } catch {
                close(descriptor)
                Self.say("\(error)")
            }
        }
    }

    func forget(_ connection: SinkConnection) { loop.remove(connection) }

    static func say(_ problem: String) {
        let text = Array("sink: \(problem)\n".utf8)
        write(STDERR_FILENO, text, text.count)
    }

    private static func listen() throws(SystemFault) -> (descriptor: Int32, port: UInt16) {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_INET, type, 0)
        guard descriptor >= 0 else { throw SystemFault(call: "socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && Glibc.listen(descriptor, 1_024) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else {
            let fault = SystemFault(call: "listen on the loopback address")
            close(descriptor)
            throw fault
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }
}
