/// Why a push is not sent: each is something that APNs would refuse, or that a phone would drop without telling anyone.
public enum PayloadFault: Error, Equatable, Sendable {
    /// The body is above its limit even with every `shed` field left out.
    case tooLarge(bytes: Int, limitBytes: Int)
    /// Attributes and content-state together are above what a phone holds of one activity (4096 bytes).
    case tooLargeForPhone(bytes: Int, limitBytes: Int)
    /// A start without a title or body to show: the phone begins no activity.
    case missingAlert
    case missingAttributesType
    /// `title` or `body` is neither text nor `{"loc-key": …, "loc-args": […]}`.
    case badAlert(field: String)
    /// The channel to follow is empty or no base64.
    case badChannel
    /// A time of 10^11 or more: milliseconds where seconds are due.
    case looksLikeMilliseconds(field: String)
    /// A time before 1970 or 1970 itself.
    case badTime(field: String)
    /// NaN or infinity, which JSON cannot carry.
    case notFinite(field: String)
    /// A configured date field that is neither Unix seconds nor RFC 3339.
    case badDate(path: String, explanation: String)
    /// The complete state, with all that was written into it, does not fit the type's schema.
    case contentStateMismatch(path: String, explanation: String)
    case attributesMismatch(path: String, explanation: String)
    /// A broadcast cannot start an activity.
    case startByBroadcast
}

extension PayloadFault {
    /// A closed set, fit to label a metric and to name the reason in a dead letter.
    public var name: String {
        switch self {
        case .tooLarge: "payload_too_large"
        case .tooLargeForPhone: "payload_too_large_for_phone"
        case .missingAlert: "missing_alert"
        case .missingAttributesType: "missing_attributes_type"
        case .badAlert: "bad_alert"
        case .badChannel: "bad_channel"
        case .looksLikeMilliseconds: "looks_like_milliseconds"
        case .badTime: "bad_time"
        case .notFinite: "not_finite"
        case .badDate: "bad_date"
        case .contentStateMismatch: "content_state_mismatch"
        case .attributesMismatch: "attributes_mismatch"
        case .startByBroadcast: "start_by_broadcast"
        }
    }

    /// One sentence for a person: what, where, and what to do.
    public var explanation: String {
        switch self {
        case .tooLarge(let bytes, let limitBytes):
            "the payload has \(bytes) bytes, \(limitBytes) are allowed; publish less, or name fields to leave out under shed"
        case .tooLargeForPhone(let bytes, let limitBytes):
            "attributes and content-state have \(bytes) bytes together, a phone holds \(limitBytes); publish less, or name fields to leave out under shed"
        case .missingAlert:
            "a start needs an alert with a title or a body, else no activity appears; add alert to activity.started"
        case .missingAttributesType:
            "a start needs attributesType, the name of the Swift type of the attributes"
        case .badAlert(let field):
            "alert.\(field) must be text or {\"loc-key\": text, \"loc-args\": [text]}"
        case .badChannel:
            "channelId must be the base64 text that the channel was created with"
        case .looksLikeMilliseconds(let field):
            "\(field) looks like milliseconds; give seconds"
        case .badTime(let field):
            "\(field) lies before 1970; give Unix seconds"
        case .notFinite(let field):
            "\(field) is not a finite number"
        case .badDate(_, let explanation), .contentStateMismatch(_, let explanation),
            .attributesMismatch(_, let explanation):
            explanation
        case .startByBroadcast:
            "a broadcast cannot start an activity; give a startToken"
        }
    }
}
