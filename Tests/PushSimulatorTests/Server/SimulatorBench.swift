import HTTP2
import Sockets
import Testing

@testable import PushSimulator

/// A simulator on its own thread, and clients on the test's loop, over real TLS.
final class SimulatorBench {
    let loop = try! EventLoop()
    let simulator: SimulatorServer
    private let tls: TLSContext

    init(_ change: (inout SimulatorServer.Options) -> Void = { _ in }) throws {
        var options = SimulatorServer.Options()
        options.face.unknownTokens = .adopt
        change(&options)
        simulator = try SimulatorServer(options)
        try simulator.start()
        var client = TLSContext.ClientOptions()
        client.usesSystemTrust = false
        client.authorityPEM = simulator.authorityPEM
        tls = try .client(client)
    }

    deinit {
        simulator.stop()
    }

    /// - Parameter ageSeconds: of its provider token.
    func client(ageSeconds: Int64 = 0) throws -> SimulatorClient {
        let issued = SimulatorClock.realMilliseconds() / 1_000 - ageSeconds
        return SimulatorClient(
            loop: loop, port: try #require(simulator.port), tls: tls,
            jwt: simulator.providerKey.providerToken(issuedAtSeconds: issued))
    }

    /// A client whose provider token has been accepted.
    func acceptedClient() throws -> SimulatorClient {
        let client = try client()
        drive { client.isReady }
        client.send(0)
        drive { client.endings[0] == .answered(200, "") && client.connection.peerStreamLimit == 1_000 }
        return client
    }

    /// Turns of the loop until it holds. The half minute is no expectation, only the end of a test that hangs.
    func drive(until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        var hasGivenUp = false
        let limit = loop.timer { hasGivenUp = true }
        limit.schedule(atMilliseconds: EventLoop.currentMilliseconds() + 30_000)
        while !condition(), !hasGivenUp { loop.runOnce(timeoutMilliseconds: 2) }
        limit.cancel()
        if hasGivenUp { Issue.record("never happened", sourceLocation: sourceLocation) }
    }
}

final class SimulatorClient: ClientHandler {
    enum Ending: Equatable {
        case answered(Int, String)
        case notProcessed(NotProcessed)
        case unknown
    }

    private(set) var connection: ClientConnection!
    private(set) var endings: [UInt64: Ending] = [:]
    private(set) var bodies: [UInt64: [UInt8]] = [:]
    /// Answers that had an `apns-id`.
    private(set) var hasIdentifier: Set<UInt64> = []
    private(set) var goAways: [String] = []
    private(set) var isReady = false
    private(set) var isClosed = false
    private let jwt: String
    private var buffer = RequestBuffer()

    init(loop: EventLoop, port: UInt16, tls: TLSContext, jwt: String) {
        self.jwt = jwt
        super.init()
        var options = ClientConnection.Options()
        options.initialStreamLimit = .max
        connection = ClientConnection(
            loop: loop, host: "localhost", addresses: [SocketAddress(numeric: "127.0.0.1", port: port)!], tls: tls,
            options: options, handler: self)
    }

    static let token = String(repeating: "ab", count: 80)

    /// An update whose timestamp is the tag's.
    @discardableResult
    func send(
        _ tag: UInt64, token: String = token, jwt: String? = nil, priority: Int64 = 5, aps: String? = nil,
        within milliseconds: Int64 = 60_000
    ) -> Bool {
        let fields = [TemplateField("authorization", "bearer \(jwt ?? self.jwt)")]
        buffer.reset(RequestTemplate(authority: "localhost", fields: fields))
        buffer.setPath("/3/device/\(token)")
        buffer.add("apns-topic", FaceBench.topic)
        buffer.add("apns-push-type", "liveactivity")
        buffer.add("apns-priority", decimal: priority)
        buffer.add("apns-expiration", decimal: 0)
        let text = String(tag)
        let identifier = "0f6c2a3e-6d0a-4f0e-9a55-" + String(repeating: "0", count: 12 - text.count) + text
        buffer.add("apns-id", identifier)
        let standard = #""timestamp":\#(1_000 + tag),"event":"update","content-state":{"sequenceNumber":\#(tag + 1)}"#
        buffer.setBody(Array(#"{"aps":{\#(aps ?? standard)}}"#.utf8))
        return connection.submit(
            buffer, tag: tag, deadlineMilliseconds: EventLoop.currentMilliseconds() + milliseconds)
    }

    override func ready(_ connection: ClientConnection) { isReady = true }
    override func closed(_ connection: ClientConnection, reason: CloseReason) { isClosed = true }

    override func completed(_ connection: ClientConnection, tag: UInt64, outcome: RequestOutcome) {
        switch outcome {
        case .answered(let response):
            let reason = JSONDocument.parse(Array(response.body))?.asObject?["reason"]?.asString ?? ""
            bodies[tag] = Array(response.body)
            if response.field("apns-id") != nil { hasIdentifier.insert(tag) }
            endings[tag] = .answered(response.status, reason)
        case .notProcessed(let cause): endings[tag] = .notProcessed(cause)
        case .unknown: endings[tag] = .unknown
        }
    }

    override func goAway(
        _ connection: ClientConnection, lastStreamID: Int32, errorCode: UInt32, debugData: UnsafeRawBufferPointer
    ) {
        goAways.append(String(decoding: debugData, as: UTF8.self))
    }
}
