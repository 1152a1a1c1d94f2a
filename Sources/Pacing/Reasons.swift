/// Why an update is sent.
public struct Reasons: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    public static let started = Reasons(rawValue: 1 << 0)
    public static let status = Reasons(rawValue: 1 << 1)
    public static let alert = Reasons(rawValue: 1 << 2)
    public static let distance = Reasons(rawValue: 1 << 3)
    public static let drift = Reasons(rawValue: 1 << 4)
    public static let content = Reasons(rawValue: 1 << 5)
    public static let retarget = Reasons(rawValue: 1 << 6)
    public static let refresh = Reasons(rawValue: 1 << 7)
    public static let ended = Reasons(rawValue: 1 << 8)

    static let urgent: Reasons = [.started, .status, .alert, .ended]

    /// All names, in the order in which updates list them. The place of one is the number of its bit.
    public static let allNames = [
        "started", "status", "alert", "distance", "drift", "content", "retarget", "refresh", "ended",
    ]

    public var isUrgent: Bool { !isDisjoint(with: .urgent) }

    public var names: [String] {
        Reasons.allNames.indices.filter { rawValue & (1 << UInt16($0)) != 0 }.map { Reasons.allNames[$0] }
    }
}
