import Glibc
import HTTP2
import Sockets

/// The other end, on a thread of its own: takes every push and answers 200 with an `apns-id`, as APNs does.
final class OppositeServer: Sendable {
    enum Kind {
        /// A server on nghttp2 that decodes and checks all of HTTP/2, and answers with the request's own `apns-id`.
        case complete
        /// `Sink`: frames alone, so that next to nothing of what is measured is the server.
        case sink
    }

    let port: UInt16
    /// What a client has to trust.
    let authorityPEM: [UInt8]
    private let thread: LoopThread

    /// - Parameter timelinePath: where a sink writes when it answered how many.
    init(_ kind: Kind = .complete, timelinePath: String? = nil) throws {
        let certificate = try ServerCertificate.make(names: [PushLoad.host, "127.0.0.1"])
        let tls = try TLSContext.server(certificate)
        let port = OnceValue<Result<UInt16, SystemFault>>()
        thread = try LoopThread.start(name: "opposite") { loop in
            do throws(SystemFault) {
                switch kind {
                case .complete:
                    let server = try Server(loop: loop, tls: tls, handler: AcceptingHandler())
                    // The loop keeps what it is to call, and so the server.
                    loop.onWake { withExtendedLifetime(server) {} }
                    port.give(.success(server.port))
                case .sink:
                    let timeline = timelinePath.flatMap { try? SinkTimeline(path: $0) }
                    let sink = try Sink(loop: loop, tls: tls, timeline: timeline)
                    loop.onWake { sink.timeline?.end() }
                    port.give(.success(sink.port))
                }
            } catch {
                port.give(.failure(error))
            }
        }
        self.port = try port.take().get()
        authorityPEM = certificate.authorityPEM ?? []
    }

    /// What its thread has used so far, nanoseconds.
    var threadCPU: Int64 {
        let time = OnceValue<Int64>()
        thread.mailbox.submit { _ in time.give(Clock.threadCPU()) }
        return time.take()
    }

    /// `serve --authority FILE`, `sink --authority FILE [--timeline FILE]`: prints the port, writes the certificate to trust, and serves until standard input
    /// ends.
    static func run(_ kind: Kind, _ options: BenchmarkOptions) throws {
        guard let path = options.text("authority") else {
            throw BenchmarkFault(
                problem: "\(options.benchmark) needs --authority FILE, where it writes the certificate to trust")
        }
        let server = try OppositeServer(kind, timelinePath: options.text("timeline"))
        guard let file = fopen(path, "w") else { throw BenchmarkFault(problem: "\(path) cannot be written") }
        fwrite(server.authorityPEM, 1, server.authorityPEM.count, file)
        fclose(file)
        print("{\"port\":\(server.port)}")
        fflush(nil)
        while getchar() != EOF {}
    }
}

private final class AcceptingHandler: ServerHandler {
    private var fields = FieldBuffer()

    override func received(_ request: ServerRequest) {
        fields.removeAll()
        if let identifier = request.field("apns-id") { fields.add("apns-id", identifier, indexing: .neverIndexed) }
        _ = request.respond(status: 200, fields: fields, body: UnsafeRawBufferPointer(start: nil, count: 0))
    }
}

extension TLSContext {
    /// For a client of a server whose certificate was made here.
    static func trusting(_ authorityPEM: [UInt8]) throws -> TLSContext {
        var options = TLSContext.ClientOptions()
        options.usesSystemTrust = false
        options.authorityPEM = authorityPEM
        return try .client(options)
    }

    static func trusting(fileAt path: String) throws -> TLSContext {
        var options = TLSContext.ClientOptions()
        options.usesSystemTrust = false
        options.authorityFile = path
        return try .client(options)
    }
}
