import CBenchmarks
import HTTP2
import LiveActivities
import Sockets

/// Pushes over a bare `ClientConnection`: what HTTP/2 costs without pool, policy, instruments and hand-over between threads.
final class ConnectionClient: ClientHandler {
    private let plan: PushPlan
    private let template: RequestTemplate
    private let loop: EventLoop
    private var load = PushLoad()
    private var request = RequestBuffer()
    private var submitted = 0
    private var work = PushBenchmark.Work()
    private var began: (cpu: Int64, time: Int64, allocations: UInt64) = (0, 0, 0)
    private var failure: String?

    static func push(_ plan: PushPlan) throws -> PushBenchmark.Work {
        let loop = try EventLoop()
        guard let address = SocketAddress(numeric: "127.0.0.1", port: plan.port) else {
            throw BenchmarkFault(problem: "no loopback address")
        }
        let bearer = try PushLoad.providerToken().bearer()
        let client = ConnectionClient(plan, authorization: bearer.authorization, loop: loop)
        let connection = ClientConnection(
            loop: loop, host: PushLoad.host, addresses: [address], tls: plan.tls, handler: client)
        loop.run()
        withExtendedLifetime(connection) {}
        if let failure = client.failure { throw BenchmarkFault(problem: failure) }
        return client.work
    }

    private init(_ plan: PushPlan, authorization: String, loop: EventLoop) {
        self.plan = plan
        self.loop = loop
        template = RequestTemplate(
            authority: PushLoad.host,
            fields: [
                TemplateField("authorization", authorization), TemplateField("apns-topic", PushLoad.topic),
                TemplateField("apns-push-type", "\(PushHeaders.pushType)"),
                TemplateField("apns-priority", "5"),
            ])
    }

    override func ready(_ connection: ClientConnection) {
        connection.unlockStreams()
        began = (Clock.processCPU(), Clock.monotonic(), cbenchmarks_allocations())
        fill(connection)
    }

    override func streamCapacityChanged(_ connection: ClientConnection) {
        if began.time != 0 { fill(connection) }
    }

    override func completed(_ connection: ClientConnection, tag: UInt64, outcome: RequestOutcome) {
        if case .answered(let response) = outcome, response.status == 200 {
            work.accepted += 1
        } else {
            work.others += 1
        }
        if work.accepted + work.others == plan.requests {
            work.cpuNanoseconds = Clock.processCPU() - began.cpu
            work.nanoseconds = Clock.monotonic() - began.time
            work.allocations = cbenchmarks_allocations() - began.allocations
            connection.close()
        } else {
            fill(connection)
        }
    }

    override func closed(_ connection: ClientConnection, reason: CloseReason) {
        if work.nanoseconds == 0 { failure = "the connection ended: \(reason)" }
        loop.stop()
    }

    private func fill(_ connection: ClientConnection) {
        let deadline = loop.nowMilliseconds + 8_000
        while submitted < plan.requests, connection.openStreams < plan.streams, connection.freeStreams > 0 {
            let headers = load.nextHeaders()
            request.reset(template)
            withUnsafeTemporaryAllocation(byteCount: PushHeaders.longestPathBytes, alignment: 8) { path in
                let length = headers.writePath(into: path)
                request.setPath(UnsafeRawBufferPointer(rebasing: path[..<length]))
            }
            request.add("apns-expiration", decimal: headers.expirationSeconds)
            request.add("apns-id", count: PushHeaders.identifierBytes) { headers.writeIdentifier(into: $0) }
            request.setBody(load.body)
            guard connection.submit(request, tag: UInt64(submitted), deadlineMilliseconds: deadline) else { return }
            submitted += 1
        }
    }
}
