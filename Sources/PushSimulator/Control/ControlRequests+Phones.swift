import HTTP1
import Telemetry

extension ControlRequests {
    func phones() -> [UInt8] {
        let (views, now, settings) = shared.core.withLock {
            ($0.phones.views(), shared.clock.phoneMilliseconds(), $0.phones.settings)
        }
        var lines: [UInt8] = []
        for view in views {
            var object = JSONObject()
            object["phone"] = .string(view.name)
            object["offline"] = .bool(view.isOffline)
            object["storedPushes"] = .number(JSONNumber(Int64(view.storedPushes)))
            object["startTokens"] = .array(view.startTokens.map { .string($0) })
            object["activities"] = .array(
                view.activities.map {
                    .object($0.activity.json(token: $0.token, atMilliseconds: now, settings: settings))
                })
            lines += JSONDocument.bytes(of: .object(object)) + [UInt8(ascii: "\n")]
        }
        return lines
    }

    func addPhone(_ body: [UInt8]) -> HTTPResponse {
        let form = #"{"phone": "anna"} is needed, "startToken" and "attributesType" beside it"#
        guard let fields = Fields(body, ["phone", "startToken", "attributesType"]), let name = fields.name("phone"),
            fields.isTokenOrAbsent("startToken")
        else { return problem(400, form + "; tokens are 64 hex digits or more") }
        if let full { return full }
        let instant = shared.clock.instant()
        let token = shared.core.withLock {
            $0.addPhone(name, startToken: fields["startToken"], attributesType: fields["attributesType"], at: instant)
        }
        return told([("phone", name), ("startToken", token)])
    }

    func movePhone(_ name: String, _ action: String) -> HTTPResponse {
        guard ["offline", "online"].contains(action) else {
            return problem(404, "a phone can go /offline and /online, not /\(action)")
        }
        let instant = shared.clock.instant()
        let phone: String? = shared.core.withLock { core in
            // A token that nobody has pushed to yet may be adopted later: its phone is named by it.
            let token = name.lowercased()
            let adopts = core.face.settings.unknownTokens == .adopt && Fields.isToken(token)
            guard let phone = core.phones.phone(name) ?? (adopts ? token : nil) else { return nil }
            if action == "offline" { core.phones.goOffline(device: phone) } else { core.goOnline(phone, at: instant) }
            return phone
        }
        guard let phone else {
            return problem(404, "there is no phone, token or activity \"\(name)\"; GET /phones lists them")
        }
        return told([("phone", phone), ("is", action)])
    }

    func beginActivity(_ body: [UInt8]) -> HTTPResponse {
        let form = #"{"activityId": "order-1"} is needed, "phone", "token" and "attributesType" beside it"#
        guard let fields = Fields(body, ["activityId", "phone", "token", "attributesType"]),
            let activity = fields.name("activityId"), fields.isTokenOrAbsent("token"),
            fields["phone"] == nil || fields.name("phone") != nil
        else { return problem(400, form + "; tokens are 64 hex digits or more") }
        if let full { return full }
        let instant = shared.clock.instant()
        let phone = fields["phone"] ?? activity
        let token = shared.core.withLock {
            $0.begin(
                activity, on: phone, updateToken: fields["token"], attributesType: fields["attributesType"], at: instant
            )
        }
        return told([("activityId", activity), ("phone", phone), ("token", token)])
    }

    func changeActivity(_ name: String, _ action: String) -> HTTPResponse {
        let instant = shared.clock.instant()
        let tokens = shared.core.withLock { $0.phones.updateTokens(of: name) }
        guard !tokens.isEmpty else {
            return problem(404, "there is no activity with the id or token \"\(name)\"; GET /phones lists them")
        }
        switch action {
        case "rotate":
            let new = shared.core.withLock { core in tokens.compactMap { core.rotate($0, at: instant) } }
            guard let first = new.first else { return problem(409, "activity \"\(name)\" has ended") }
            return told([("activityId", name), ("token", first)])
        case "dismiss":
            let count = shared.core.withLock { core in tokens.count { core.dismiss($0, at: instant) } }
            return count > 0
                ? told([("activityId", name), ("is", "dismissed")])
                : problem(409, "activity \"\(name)\" is off the screen")
        default:
            return problem(404, "an activity can /rotate its token, and users /dismiss it; not /\(action)")
        }
    }

    /// What is answered where there are as many tokens as may be.
    private var full: HTTPResponse? {
        let (count, most) = shared.core.withLock { ($0.face.tokens.count, $0.face.settings.maxTokens) }
        return count < most
            ? nil : problem(503, "there are \(count) tokens, as many as may be; --max-tokens allows more")
    }

    private func told(_ members: [(String, String)]) -> HTTPResponse {
        json(JSONObject(uniqueMembers: members.map { .init(name: $0.0, value: .string($0.1)) }))
    }
}

/// Text members of a JSON object that has no others.
private struct Fields {
    private let object: JSONObject

    init?(_ body: [UInt8], _ names: Set<String>) {
        guard let object = JSONDocument.parse(body)?.asObject,
            object.members.allSatisfy({ names.contains($0.name) && $0.value.asString != nil })
        else { return nil }
        self.object = object
    }

    subscript(name: String) -> String? { object[name]?.asString }

    /// What may stand in a path, and is no burden.
    func name(_ member: String) -> String? {
        guard let text = self[member], (1...256).contains(text.utf8.count), !text.contains("/") else { return nil }
        return text
    }

    func isTokenOrAbsent(_ member: String) -> Bool { self[member].map(Fields.isToken) ?? true }

    static func isToken(_ text: String) -> Bool {
        (64...1_024).contains(text.utf8.count) && text.utf8.count % 2 == 0 && text.utf8.allSatisfy(\.isHexDigit)
    }
}

extension PhoneActivity {
    fileprivate func json(token: String, atMilliseconds: Int64, settings: PhoneSettings) -> JSONObject {
        var object = JSONObject()
        object["activityId"] = identifier.map { .string($0) }
        object["token"] = .string(token)
        object["attributesType"] = attributesType.map { .string($0) }
        object["startedAt"] = .number(JSONNumber(startedAtMilliseconds))
        object["timestamp"] = newestTimestampSeconds.flatMap { Int64(exactly: $0.rounded()) }.map {
            .number(JSONNumber($0))
        }
        object["contentState"] = contentState.map { .object($0) }
        let stage =
            if let removalAtMilliseconds, removalAtMilliseconds <= atMilliseconds {
                "removed"
            } else if isOver(atMilliseconds: atMilliseconds, settings: settings) {
                "ended"
            } else if let staleDateSeconds, staleDateSeconds * 1_000 < Double(atMilliseconds) {
                "stale"
            } else { "active" }
        object["stage"] = .string(stage)
        object["shown"] = .number(JSONNumber(Int64(appliedCount)))
        object["alerts"] = .number(JSONNumber(Int64(alertCount)))
        return object
    }
}
