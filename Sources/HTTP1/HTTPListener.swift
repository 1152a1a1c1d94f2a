import CLinux
import CMicrohttpd
import Glibc

/// Why a listener could not begin.
public struct ListenFault: Error, Equatable, Sendable, CustomStringConvertible {
    public let address: String
    public let problem: String

    public var description: String { "cannot listen on \(address): \(problem); choose another address or port" }
}

/// Listens on one address with one thread of its own, which runs libmicrohttpd and everything that belongs to a connection.
public final class HTTPListener: @unchecked Sendable {
    /// Unless `HTTPLimits` says otherwise.
    public static let maxBodyBytes = HTTPLimits().bodyBytes

    /// Answers at once. Called on the listener's thread; must not block for long.
    public typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse

    /// What is called on the listener's thread.
    public struct Callbacks: Sendable {
        /// Decides from the head alone.
        public var admit: @Sendable (HTTPRequest) -> HTTPAdmission
        /// How a client is told of a request that goes no further than the listener.
        public var refuse: @Sendable (HTTPRefusal) -> HTTPResponse
        /// Called about so often, for whatever has to be done regularly; 0 is never.
        public var tickMilliseconds: Int64
        public var tick: @Sendable () -> Void

        public init(
            admit: @escaping @Sendable (HTTPRequest) -> HTTPAdmission,
            refuse: @escaping @Sendable (HTTPRefusal) -> HTTPResponse = {
                .text("\($0.explanation)\n", status: $0.status)
            },
            tickMilliseconds: Int64 = 0, tick: @escaping @Sendable () -> Void = {}
        ) {
            self.admit = admit
            self.refuse = refuse
            self.tickMilliseconds = tickMilliseconds
            self.tick = tick
        }
    }

    // Set in init and ended in stop(), which the owner calls once.
    private let thread: pthread_t
    private let post: LoopPost
    public let port: UInt16
    public let counts: ListenerCounts

    /// - Parameters:
    ///   - host: a numeric address, IPv4 or IPv6. `::` takes both families.
    ///   - port: 0 takes a free one.
    public convenience init(
        host: String = "127.0.0.1", port: UInt16, limits: HTTPLimits = HTTPLimits(), handler: @escaping Handler
    ) throws(ListenFault) {
        try self.init(
            host: host, port: port, limits: limits,
            callbacks: Callbacks(admit: { _ in .accept { request, responder in responder.respond(handler(request)) } }))
    }

    public init(
        host: String = "127.0.0.1", port: UInt16, limits: HTTPLimits = HTTPLimits(), callbacks: Callbacks
    ) throws(ListenFault) {
        guard let address = ListenAddress(host: host, port: port) else {
            throw ListenFault(address: "\(host):\(port)", problem: "\(host) is no numeric IPv4 or IPv6 address")
        }
        guard let post = LoopPost() else {
            throw ListenFault(address: "\(host):\(port)", problem: String(cString: strerror(errno)))
        }
        guard let loop = ListenerLoop(limits: limits, callbacks: callbacks, post: post),
            let port = loop.listen(on: address)
        else {
            throw ListenFault(address: "\(host):\(port)", problem: String(cString: strerror(errno)))
        }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(loop)
        let code = pthread_create(
            &thread, nil,
            { raw in
                Unmanaged<ListenerLoop>.fromOpaque(raw!).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            loop.shutDown()
            context.release()
            throw ListenFault(address: "\(host):\(port)", problem: "no thread: \(String(cString: strerror(code)))")
        }
        self.thread = thread
        self.post = post
        self.port = port
        counts = loop.counts
    }

    /// Runs something on the listener's thread, soon; never once it has stopped.
    public func perform(_ action: @escaping @Sendable () -> Void) {
        post.send(.run(action))
    }

    /// Closes every connection and ends the thread; streams are over when it returns. The last call on this object, and not from its own thread.
    public func stop() {
        post.send(.stop)
        pthread_join(thread, nil)
    }
}
