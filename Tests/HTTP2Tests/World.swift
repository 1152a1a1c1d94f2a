import Sockets
import Testing

@testable import HTTP2

/// A server and its clients on one loop, over real TLS on loopback, driven by the test itself.
final class World {
    static let certificate = try! ServerCertificate.make(names: ["localhost", "127.0.0.1", "push.test"])

    let loop = try! EventLoop()
    let serverSide = ServerSide()
    let server: Server
    let tls: TLSContext
    private var hasGivenUp = false
    private var clients: [Client] = []

    init(
        _ options: Server.Options = .init(), certificate: ServerCertificate = World.certificate,
        selectsHTTP2: Bool = true
    ) throws {
        server = try Server(
            loop: loop, tls: .server(certificate, selectsHTTP2: selectsHTTP2), options: options, handler: serverSide)
        tls = try .client(.trusting(World.certificate))
    }

    /// A loop and what lives on it hold each other until it is closed.
    deinit {
        for client in clients {
            client.onCompletion = { _, _, _, _ in }
            client.connection.close()
        }
        server.close()
        loop.runOnce(timeoutMilliseconds: 0)
        serverSide.forget()
    }

    var address: SocketAddress { SocketAddress(numeric: "127.0.0.1", port: server.port)! }

    func client(
        host: String = "localhost", addresses: [SocketAddress]? = nil, tls: TLSContext? = nil,
        _ options: ClientConnection.Options = .quick
    ) -> Client {
        clients.append(
            Client(loop: loop, host: host, addresses: addresses ?? [address], tls: tls ?? self.tls, options: options))
        return clients.last!
    }

    /// A client that is ready, and what the server has of it.
    func connected(_ options: ClientConnection.Options = .quick) -> (Client, ServerConnection) {
        let client = client(options)
        drive { client.isReady }
        return (client, server.connections.last!)
    }

    /// Turns of the loop until it holds. The half minute is no expectation, only the end of a test that hangs.
    func drive(until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        let limit = loop.timer { [unowned self] in hasGivenUp = true }
        limit.schedule(atMilliseconds: EventLoop.currentMilliseconds() + 30_000)
        while !condition(), !hasGivenUp { loop.runOnce() }
        limit.cancel()
        if hasGivenUp { Issue.record("never happened", sourceLocation: sourceLocation) }
    }

    /// Turns until nothing is left to do at once.
    func settle() {
        for _ in 0..<20 { loop.runOnce(timeoutMilliseconds: 1) }
    }
}

extension TLSContext.ClientOptions {
    static func trusting(_ certificate: ServerCertificate) -> TLSContext.ClientOptions {
        var options = TLSContext.ClientOptions()
        options.usesSystemTrust = false
        options.authorityPEM = certificate.authorityPEM
        return options
    }
}

extension ClientConnection.Options {
    /// As in use, but with the stream gate open.
    static var quick: ClientConnection.Options {
        var options = ClientConnection.Options()
        options.initialStreamLimit = .max
        return options
    }
}

/// What a completion said, kept.
enum Ending: Equatable {
    case answered(Int, String)
    case notProcessed(NotProcessed)
    case unknown(UnknownOutcome)
}

final class Client: ClientHandler {
    let loop: EventLoop
    private(set) var connection: ClientConnection!
    private(set) var endings: [UInt64: Ending] = [:]
    private(set) var completions: [UInt64] = []
    private(set) var accepted: [UInt64] = []
    private(set) var goAways: [(lastStreamID: Int32, errorCode: UInt32, text: String)] = []
    private(set) var closeReasons: [CloseReason] = []
    private(set) var completionsAfterClose = 0
    private(set) var capacityChanges = 0
    var isReady = false
    var onCompletion: (Client, UInt64, Ending, Response?) -> Void = { _, _, _, _ in }
    private var buffer = RequestBuffer()
    var template: RequestTemplate

    init(
        loop: EventLoop, host: String, addresses: [SocketAddress], tls: TLSContext, options: ClientConnection.Options
    ) {
        self.loop = loop
        template = RequestTemplate(
            authority: host,
            fields: [TemplateField("authorization", "bearer abc"), TemplateField("apns-push-type", "liveactivity")])
        super.init()
        connection = ClientConnection(
            loop: loop, host: host, addresses: addresses, tls: tls, options: options, handler: self)
    }

    @discardableResult
    func send(
        _ tag: UInt64, path: String = "/3/device/0a0b", body: String = "{}", within milliseconds: Int64 = 60_000
    ) -> Bool {
        buffer.reset(template)
        buffer.setPath(path)
        buffer.add("apns-id", "00000000-0000-0000-0000-\(tag)")
        buffer.add("apns-priority", decimal: 5)
        buffer.setBody(Array(body.utf8))
        let isTaken = connection.submit(
            buffer, tag: tag, deadlineMilliseconds: EventLoop.currentMilliseconds() + milliseconds)
        if isTaken { accepted.append(tag) }
        return isTaken
    }

    /// Each request that was taken has ended once.
    var isBalanced: Bool { completions.sorted() == accepted.sorted() }

    func tags(_ ending: Ending) -> [UInt64] { endings.filter { $0.value == ending }.keys.sorted() }

    override func ready(_ connection: ClientConnection) { isReady = true }
    override func streamCapacityChanged(_ connection: ClientConnection) { capacityChanges += 1 }

    override func completed(_ connection: ClientConnection, tag: UInt64, outcome: RequestOutcome) {
        if !closeReasons.isEmpty { completionsAfterClose += 1 }
        completions.append(tag)
        switch outcome {
        case .answered(let response):
            let ending = Ending.answered(response.status, String(decoding: response.body, as: UTF8.self))
            endings[tag] = ending
            onCompletion(self, tag, ending, response)
        case .notProcessed(let cause):
            endings[tag] = .notProcessed(cause)
            onCompletion(self, tag, .notProcessed(cause), nil)
        case .unknown(let cause):
            endings[tag] = .unknown(cause)
            onCompletion(self, tag, .unknown(cause), nil)
        }
    }

    override func goAway(
        _ connection: ClientConnection, lastStreamID: Int32, errorCode: UInt32, debugData: UnsafeRawBufferPointer
    ) {
        goAways.append((lastStreamID, errorCode, String(decoding: debugData, as: UTF8.self)))
    }

    override func closed(_ connection: ClientConnection, reason: CloseReason) { closeReasons.append(reason) }
}

final class ServerSide: ServerHandler {
    /// Requests in the order of arrival; those of a test that answers later.
    private(set) var requests: [ServerRequest] = []
    private(set) var acknowledgedLimits: [UInt32] = []
    private(set) var closeReasons: [CloseReason] = []
    private(set) var closedStreams: [Int32] = []
    var onRequest: (ServerRequest) -> Void = { _ = $0.respond(status: 200) }
    var keepsRequests = true
    var onOpen: (ServerConnection) -> Void = { _ in }

    func forget() {
        requests.removeAll()
        onRequest = { _ in }
        onOpen = { _ in }
    }

    override func opened(_ connection: ServerConnection) { onOpen(connection) }
    override func received(_ request: ServerRequest) {
        if keepsRequests { requests.append(request) }
        onRequest(request)
    }
    override func streamLimitAcknowledged(_ connection: ServerConnection, limit: UInt32) {
        acknowledgedLimits.append(limit)
    }
    override func streamClosed(_ request: ServerRequest, errorCode: UInt32) { closedStreams.append(request.streamID) }
    override func closed(_ connection: ServerConnection, reason: CloseReason) { closeReasons.append(reason) }
}

func text(_ bytes: UnsafeRawBufferPointer?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
