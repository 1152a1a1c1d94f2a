import Telemetry

extension JournalEntry {
    var json: JSONObject {
        var object = JSONObject()
        object["number"] = .number(JSONNumber(Int64(number)))
        object["at"] = .number(JSONNumber(atMilliseconds))
        object["realAt"] = .number(JSONNumber(realMilliseconds))
        object["connection"] = .number(JSONNumber(Int64(connection)))
        object["stream"] = .number(JSONNumber(Int64(stream)))
        object["token"] = .string(tokenFingerprint)
        object["activityId"] = activityIdentifier.map { .string($0) }
        object["path"] = .string(path)
        object["priority"] = priority.map { .number(JSONNumber(Int64($0))) }
        object["expiration"] = expirationSeconds.map { .number(JSONNumber($0)) }
        object["apnsId"] = apnsIdentifier.map { .string($0) }
        object["status"] = .number(JSONNumber(Int64(status)))
        object["reason"] = reason.map { .string($0) }
        if isInjected { object["injected"] = .bool(true) }
        if fate != .answered { object["fate"] = .string(fate.rawValue) }
        object["event"] = event.map { .string($0) }
        object["timestamp"] = timestampSeconds.map { .number(JSONNumber($0)) }
        object["sequence"] = sequence.map { .number(JSONNumber($0)) }
        object["contentState"] = contentState.map { .object($0) }
        if hasAlert { object["alert"] = .bool(true) }
        object["staleDate"] = staleDateSeconds.map { .number(JSONNumber($0)) }
        object["dismissalDate"] = dismissalDateSeconds.map { .number(JSONNumber($0)) }
        object["bytes"] = .number(JSONNumber(Int64(bodyBytes)))
        if !warnings.isEmpty { object["warnings"] = .array(warnings.map { .string($0) }) }
        object["verdict"] = verdict.map { .string($0.description) }
        return object
    }

    /// Nil where a field that every entry has is missing or of another type.
    init?(_ object: JSONObject) {
        guard let number = object.integer("number"), let at = object.integer("at"),
            let realAt = object.integer("realAt"), let status = object.integer("status"),
            let path = object["path"]?.asString, let token = object["token"]?.asString
        else { return nil }
        self.init(number: Int(number), atMilliseconds: at, realMilliseconds: realAt)
        connection = UInt64(clamping: object.integer("connection") ?? 0)
        stream = Int32(clamping: object.integer("stream") ?? 0)
        tokenFingerprint = token
        activityIdentifier = object["activityId"]?.asString
        self.path = path
        priority = object.integer("priority").map { Int($0) }
        expirationSeconds = object.integer("expiration")
        apnsIdentifier = object["apnsId"]?.asString
        self.status = Int(status)
        reason = object["reason"]?.asString
        isInjected = object["injected"] == .bool(true)
        if let name = object["fate"]?.asString {
            guard let fate = Fate(rawValue: name) else { return nil }
            self.fate = fate
        }
        event = object["event"]?.asString
        timestampSeconds = object.integer("timestamp")
        sequence = object.integer("sequence")
        contentState = object["contentState"]?.asObject
        hasAlert = object["alert"] == .bool(true)
        staleDateSeconds = object.integer("staleDate")
        dismissalDateSeconds = object.integer("dismissalDate")
        bodyBytes = Int(object.integer("bytes") ?? 0)
        if case .array(let texts)? = object["warnings"] { warnings = texts.compactMap(\.asString) }
        if let name = object["verdict"]?.asString {
            guard let verdict = Verdict(name) else { return nil }
            self.verdict = verdict
        }
    }
}

extension JSONObject {
    func integer(_ name: String) -> Int64? {
        self[name]?.asDouble.flatMap { Int64(exactly: $0) }
    }
}
