/// Why an event cannot be used: the machine-readable reason for the dead letters, and a sentence for a person.
public struct EventFault: Error, Equatable, Sendable {
    public enum Reason: Equatable, Sendable {
        case notJSON, notAnObject, tooLarge, unknownType
        case missingField(String)
        case wrongType(String)
        case outOfRange(String)
        case badTimestamp, badToken, tooManyTargets, unknownApp
        case contentStateMismatch(path: String)
        case contentStateTooLarge
        /// It was never looked at here: the process ended each time that it was.
        case crashed
    }

    public let reason: Reason
    /// One sentence: what was found, where, and what to publish instead. Never holds a token.
    public let explanation: String

    public init(_ reason: Reason, _ explanation: String) {
        self.reason = reason
        self.explanation = explanation
    }
}

extension EventFault.Reason {
    /// The name as it stands in dead letters, for example `missing_field:latitude`.
    public var name: String {
        switch self {
        case .missingField(let field): "\(label):\(field)"
        case .wrongType(let field): "\(label):\(field)"
        case .outOfRange(let field): "\(label):\(field)"
        case .contentStateMismatch(let path): "\(label):\(path)"
        default: label
        }
    }

    /// The name without its field: a closed set, fit to label a metric.
    public var label: String {
        switch self {
        case .notJSON: "not_json"
        case .notAnObject: "not_an_object"
        case .tooLarge: "too_large"
        case .unknownType: "unknown_type"
        case .missingField: "missing_field"
        case .wrongType: "wrong_type"
        case .outOfRange: "out_of_range"
        case .badTimestamp: "bad_timestamp"
        case .badToken: "bad_token"
        case .tooManyTargets: "too_many_targets"
        case .unknownApp: "unknown_app"
        case .contentStateMismatch: "content_state_mismatch"
        case .contentStateTooLarge: "content_state_too_large"
        case .crashed: "crashed"
        }
    }
}

extension EventFault {
    /// Text of a message as it may stand in an explanation: in quotes, and cut off where it is long.
    static func quoted(_ text: String) -> String {
        let limit = 48
        let shown = text.unicodeScalars.prefix(limit).map { scalar in
            scalar.value < 0x20 || scalar.value == 0x7F ? "\u{FFFD}" : String(scalar)
        }
        return "\"" + shown.joined() + (text.unicodeScalars.count > limit ? "…" : "") + "\""
    }
}
