import HTTP1
import Telemetry

/// Answers the control port: `GET /journal`, `GET /state`, `GET /tokens`, `POST /faults`.
final class ControlRequests: Sendable {
    private let shared: SimulatorShared

    init(shared: SimulatorShared) {
        self.shared = shared
    }

    func answer(_ request: HTTPRequest) -> HTTPResponse {
        switch (request.method, request.path) {
        case ("GET", "/journal"):
            // The lock is held for a copy of the array's reference alone; the lines are written outside.
            let journal = shared.core.withLock { $0.journal }
            return HTTPResponse(contentType: "application/jsonl", body: journal.lines())
        case ("GET", "/state"): return json(state())
        case ("GET", "/tokens"): return HTTPResponse(contentType: "application/jsonl", body: tokens())
        case ("POST", "/faults"): return changeFaults(request.body)
        default:
            return problem(404, "there are GET /journal, GET /state, GET /tokens and POST /faults")
        }
    }

    private func json(_ object: JSONObject, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "application/json", body: JSONDocument.bytes(of: .object(object)))
    }

    private func problem(_ status: Int, _ text: String) -> HTTPResponse {
        json(JSONObject(uniqueMembers: [.init(name: "error", value: .string(text))]), status: status)
    }

    private func state() -> JSONObject {
        let (entries, faults, activities, tokens) = shared.core.withLock {
            ($0.journal.entries, $0.faults, $0.phones.activities.count, $0.face.tokens.count)
        }
        func count(_ value: Int) -> JSONValue { .number(JSONNumber(Int64(value))) }
        func tally(_ names: [String]) -> JSONValue {
            let counts = names.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
            let members = counts.sorted { $0.key < $1.key }.map {
                JSONObject.Member(name: $0.key, value: count($0.value))
            }
            return .object(JSONObject(uniqueMembers: members))
        }
        var state = JSONObject()
        state["phoneMilliseconds"] = .number(JSONNumber(shared.clock.phoneMilliseconds()))
        state["connections"] = count(shared.connectionCount.load(ordering: .relaxed))
        state["held"] = count(shared.heldCount.load(ordering: .relaxed))
        state["tokens"] = count(tokens)
        state["activities"] = count(activities)
        state["requests"] = count(entries.count)
        state["answers"] = tally(entries.map { $0.reason ?? "\($0.status)" })
        state["verdicts"] = tally(entries.compactMap(\.verdict?.description))
        state["faults"] = .object(faults.json)
        return state
    }

    /// What the phones' apps would publish: `token` events, JSON lines.
    private func tokens() -> [UInt8] {
        var lines: [UInt8] = []
        for report in shared.core.withLock({ $0.reports }) {
            var event = JSONObject()
            event["type"] = .string("token")
            event["activityId"] = report.activityIdentifier.map { .string($0) }
            event["timestamp"] = .number(JSONNumber(secondsOfMilliseconds: report.atMilliseconds))
            event["token"] = .string(report.token)
            lines += JSONDocument.bytes(of: .object(event)) + [UInt8(ascii: "\n")]
        }
        return lines
    }

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
        if settings["resetConnections"] == .bool(true) { orders.append(.resetConnections) }
        let expires = settings["expireProviderTokens"] == .bool(true)
        for name in ["drain", "resetConnections", "expireProviderTokens"] { settings[name] = nil }
        do throws(FaultSettingsFault) {
            let faults = try shared.core.withLock { core throws(FaultSettingsFault) in
                try core.faults.apply(settings)
                if expires { core.face.expireProviderTokens() }
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
    init?(_ value: JSONValue) {
        self.init()
        if value == .bool(true) { return }
        guard let object = value.asObject else { return nil }
        unprocessedStreams = Int32(clamping: object.integer("unprocessedStreams") ?? 0)
        isTwice = object["twice"] == .bool(true)
        abandonsOpenStreams = object["abandon"] == .bool(true)
    }
}
