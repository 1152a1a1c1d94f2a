import HTTP1
import Sockets
import Telemetry

/// Answers the control port.
final class ControlRequests: Sendable {
    let shared: SimulatorShared
    let backend: AppBackend?

    init(shared: SimulatorShared, backend: AppBackend? = nil) {
        self.shared = shared
        self.backend = backend
    }

    static let help = """
        GET  /journal               what came, a JSON object a line; /journal/N begins with number N
        GET  /state                 counts of answers and verdicts, connections, faults
        GET  /metrics               the same for Prometheus
        GET  /tokens                tokens that phones told their app; /tokens/N begins with number N;
                                    with Accept: text/event-stream each as it comes
        GET  /faults                how the provider misbehaves now
        POST /faults                {"refusedStreamShare": 0.1}, {"clear": true}, {"drain": true}, …
        GET  /phones                phones, with their tokens and activities
        POST /phones                {"phone": "anna"}: a phone with a push-to-start token
        POST /phones/NAME/offline   and /online; NAME is a phone, a token or an activity
        POST /activities            {"activityId": "order-1", "phone": "anna"}: the app begins one
        POST /activities/ID/rotate  another update token; /dismiss: the user swipes it away

        """

    func handle(_ request: HTTPRequest, _ responder: HTTPResponder) {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        let isFollowed = request.headers["accept"]?.contains("text/event-stream") == true
        guard isFollowed, request.method == "GET", parts.first == "tokens", parts.count <= 2 else {
            return responder.respond(answer(request))
        }
        // A reader that lost its connection goes on behind what it had (Server-Sent Events).
        let last = request.headers["last-event-id"].flatMap { Int($0) }
        let first = last.map { $0 + 1 } ?? (parts.count == 2 ? Int(parts[1]) : 0)
        guard let first, first >= 0 else { return responder.respond(answer(request)) }
        guard shared.followers.follow(responder, from: first, shared: shared) else {
            return responder.respond(problem(503, "\(TokenFollowers.maxFollowers) readers follow already"))
        }
    }

    func answer(_ request: HTTPRequest) -> HTTPResponse {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        switch (request.method, parts.first, parts.count) {
        case ("GET", nil, _): return .text(ControlRequests.help)
        case ("GET", "journal"?, 1...2): return lines(parts) { journal(from: $0) }
        case ("GET", "tokens"?, 1...2): return lines(parts) { tokens(from: $0) }
        case ("GET", "state"?, 1): return json(state())
        case ("GET", "metrics"?, 1):
            return HTTPResponse(contentType: "text/plain; version=0.0.4; charset=utf-8", body: Array(metrics().utf8))
        case ("GET", "faults"?, 1): return json(shared.core.withLock(\.faults).json)
        case ("POST", "faults"?, 1): return changeFaults(request.body)
        case ("GET", "phones"?, 1): return HTTPResponse(contentType: "application/jsonl", body: phones())
        case ("POST", "phones"?, 1): return addPhone(request.body)
        case ("POST", "phones"?, 3): return movePhone(parts[1], parts[2])
        case ("POST", "activities"?, 1): return beginActivity(request.body)
        case ("POST", "activities"?, 3): return changeActivity(parts[1], parts[2])
        default:
            let isKnown = ["journal", "tokens", "state", "metrics", "faults", "phones", "activities"].contains(
                parts.first)
            return problem(
                isKnown ? 405 : 404,
                "there is no \(request.method) \(request.path); GET / lists what there is")
        }
    }

    func json(_ object: JSONObject, status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status: status, contentType: "application/json", body: JSONDocument.bytes(of: .object(object)) + [0x0A])
    }

    func problem(_ status: Int, _ text: String) -> HTTPResponse {
        json(JSONObject(uniqueMembers: [.init(name: "error", value: .string(text))]), status: status)
    }

    // MARK: - Lines

    private func lines(_ parts: [String], _ body: (Int) -> [UInt8]) -> HTTPResponse {
        guard let first = parts.count == 1 ? 0 : Int(parts[1]), first >= 0 else {
            return problem(400, "/\(parts[0])/\(parts[1]): the number of the first line is needed")
        }
        return HTTPResponse(contentType: "application/jsonl", body: body(first))
    }

    private func journal(from first: Int) -> [UInt8] {
        // The lock is held for a copy of the array's reference alone; the lines are written outside.
        shared.core.withLock(\.journal).lines(from: first)
    }

    /// What the phones' apps would publish: `token` events, and start tokens beside them.
    private func tokens(from first: Int) -> [UInt8] {
        let (reports, number) = shared.core.withLock { ($0.reports, $0.firstReport) }
        var lines: [UInt8] = []
        for (index, report) in reports.enumerated().dropFirst(max(0, first - number)) {
            lines += JSONDocument.bytes(of: .object(report.json(number: number + index))) + [UInt8(ascii: "\n")]
        }
        return lines
    }

    // MARK: - Faults

    private func changeFaults(_ body: [UInt8]) -> HTTPResponse {
        guard var settings = JSONDocument.parse(body)?.asObject else { return problem(400, "a JSON object is needed") }
        var orders: [SimulatorShared.Order] = [.faultsChanged]
        if let value = settings["drain"] {
            guard let drain = Drain(value) else {
                return problem(
                    400, #"drain: true or {"unprocessedStreams": 3, "twice": true, "abandon": false} is needed"#)
            }
            orders.append(.drain(drain))
        }
        var levers: [String: Bool] = [:]
        for name in ["clear", "resetConnections", "expireProviderTokens"] {
            switch settings[name] {
            case nil: continue
            case .bool(let flag)?: levers[name] = flag
            default: return problem(400, "\(name): true is needed")
            }
        }
        var untilMilliseconds: Int64?
        if let value = settings["forMilliseconds"] {
            guard let time = value.asDouble.flatMap({ Int64(exactly: $0) }), (1...86_400_000).contains(time) else {
                return problem(400, "forMilliseconds: whole milliseconds up to a day are needed")
            }
            untilMilliseconds = EventLoop.currentMilliseconds() + time
        }
        for name in ["drain", "forMilliseconds"] + Array(levers.keys) { settings[name] = nil }
        if levers["resetConnections"] == true { orders.append(.resetConnections) }
        let (changes, until) = (settings, untilMilliseconds)
        do throws(FaultSettingsFault) {
            let faults = try shared.core.withLock { core throws(FaultSettingsFault) in
                if levers["clear"] == true { core.clearFaults() }
                try core.change(changes, untilMilliseconds: until)
                if levers["expireProviderTokens"] == true { core.face.expireProviderTokens() }
                return core.faults
            }
            for order in orders { shared.order(order) }
            return json(faults.json)
        } catch {
            return problem(400, error.description)
        }
    }
}

extension Drain {
    /// More streams than a connection has.
    private static let mostStreams: Int64 = 1_000_000

    init?(_ value: JSONValue) {
        self.init()
        if value == .bool(true) { return }
        guard let object = value.asObject else { return nil }
        for member in object.members {
            switch (member.name, member.value) {
            case ("unprocessedStreams", .number(let number)):
                guard let count = Int64(exactly: number.double), (0...Drain.mostStreams).contains(count) else {
                    return nil
                }
                unprocessedStreams = Int32(count)
            case ("twice", .bool(let flag)): isTwice = flag
            case ("abandon", .bool(let flag)): abandonsOpenStreams = flag
            default: return nil
            }
        }
    }
}

extension PhoneModel.TokenReport {
    /// An update token as the `token` event of its activity.
    func json(number: Int) -> JSONObject {
        var object = JSONObject()
        object["number"] = .number(JSONNumber(Int64(number)))
        object["type"] = .string(kind == .update ? "token" : "push-to-start-token")
        object["activityId"] = activityIdentifier.map { .string($0) }
        object["timestamp"] = .number(JSONNumber(secondsOfMilliseconds: atMilliseconds))
        object["token"] = .string(token)
        object["phone"] = .string(phone)
        object["attributesType"] = attributesType.map { .string($0) }
        object["replaces"] = replacedToken.map { .string($0) }
        return object
    }
}
