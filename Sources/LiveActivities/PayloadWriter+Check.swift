import Telemetry

extension PayloadWriter {
    /// 10^11 seconds are the year 5138; what is above it is milliseconds by mistake, the commonest fault of all.
    private static let limitSeconds: Int64 = 100_000_000_000

    /// What can be told from the push alone.
    static func check(_ push: Push) throws(PayloadFault) {
        try check(push.timestampSeconds, "timestamp")
        if push.event != .end, let staleDate = push.staleDateSeconds { try check(staleDate, "stale-date") }
        if push.event == .end, let dismissal = push.dismissal {
            // However far back it lies: past means at once.
            guard dismissal.seconds(sentAtSeconds: push.timestampSeconds) < limitSeconds else {
                throw .looksLikeMilliseconds(field: "dismissal-date")
            }
        }
        if let score = push.relevanceScore, !score.isFinite { throw .notFinite(field: "relevance-score") }
        if let alert = push.alert {
            guard isText(alert.title) else { throw .badAlert(field: "title") }
            guard isText(alert.body) else { throw .badAlert(field: "body") }
        }
        if push.event == .start { try checkStart(push) }
    }

    private static func checkStart(_ push: Push) throws(PayloadFault) {
        guard push.medium == .device else { throw .startByBroadcast }
        guard let attributesType = push.attributesType, !attributesType.isEmpty else { throw .missingAttributesType }
        guard let alert = push.alert, alert.hasText else { throw .missingAlert }
        if let channel = push.followedChannel, !isBase64(channel) { throw .badChannel }
    }

    private static func check(_ seconds: Int64, _ field: String) throws(PayloadFault) {
        if seconds >= limitSeconds { throw .looksLikeMilliseconds(field: field) }
        if seconds <= 0 { throw .badTime(field: field) }
    }

    /// Absent, text, or the localised form.
    private static func isText(_ value: JSONValue?) -> Bool {
        switch value {
        case nil, .null?, .string?: return true
        case .object(let localised)?:
            guard localised["loc-key"]?.asString != nil else { return false }
            guard let arguments = localised["loc-args"] else { return true }
            guard case .array(let elements) = arguments else { return false }
            return elements.allSatisfy { $0.asString != nil }
        default: return false
        }
    }

    /// With padding (RFC 4648, section 4), as APNs hands channel ids out.
    private static func isBase64(_ text: String) -> Bool {
        let bytes = text.utf8
        guard !bytes.isEmpty, bytes.count % 4 == 0 else { return false }
        let padding = bytes.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return bytes.dropLast(padding).allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
    }
}
