/// What became of a push behind its 200: the part that no server is ever told.
public enum Verdict: Sendable, Equatable {
    /// Shown, without a sound.
    case applied
    /// Shown, with a sound.
    case alerted
    /// The activity's end was shown.
    case ended
    /// The phone is offline; APNs keeps the push in the one slot of the bundle id.
    case stored
    /// It was stored, and another took its slot.
    case overwritten
    /// It was stored until its expiration.
    case expired
    /// Over the budget of pushes with priority 10.
    case throttled
    case dropped(Drop)

    public enum Drop: String, Sendable, CaseIterable {
        case timestamp, outdated, late, event, decode, start, budget, size, ended, offline
        case tokenKind = "token-kind"
    }

    /// Whether the phone now shows the push's content-state.
    public var isShown: Bool { self == .applied || self == .alerted || self == .ended }
}

extension Verdict: CustomStringConvertible {
    public init?(_ name: String) {
        switch name {
        case "applied": self = .applied
        case "alerted": self = .alerted
        case "ended": self = .ended
        case "stored": self = .stored
        case "overwritten": self = .overwritten
        case "expired": self = .expired
        case "throttled": self = .throttled
        default:
            guard name.hasPrefix("dropped:"), let drop = Drop(rawValue: String(name.dropFirst(8))) else { return nil }
            self = .dropped(drop)
        }
    }

    public var description: String {
        switch self {
        case .applied: "applied"
        case .alerted: "alerted"
        case .ended: "ended"
        case .stored: "stored"
        case .overwritten: "overwritten"
        case .expired: "expired"
        case .throttled: "throttled"
        case .dropped(let drop): "dropped:\(drop.rawValue)"
        }
    }
}
