import Telemetry

/// A Live Activity as one phone shows it.
public struct PhoneActivity: Sendable {
    /// The producer's id, where the simulator knows it.
    public var identifier: String?
    public let device: String
    public var attributesType: String?
    public internal(set) var attributesBytes = 0
    public let startedAtMilliseconds: Int64
    /// The newest `timestamp` that was applied.
    public internal(set) var newestTimestampSeconds: Double?
    public internal(set) var contentState: JSONObject?
    public internal(set) var staleDateSeconds: Double?
    public internal(set) var endedAtMilliseconds: Int64?
    /// When it leaves the Lock Screen.
    public internal(set) var removalAtMilliseconds: Int64?
    public internal(set) var appliedCount = 0
    public internal(set) var alertCount = 0
    var urgentTimesMilliseconds: [Int64] = []

    init(identifier: String?, device: String, attributesType: String?, startedAtMilliseconds: Int64) {
        self.identifier = identifier
        self.device = device
        self.attributesType = attributesType
        self.startedAtMilliseconds = startedAtMilliseconds
    }

    func isOver(atMilliseconds: Int64, settings: PhoneSettings) -> Bool {
        if endedAtMilliseconds != nil { return true }
        guard let maxLife = settings.maxActivityLifeMilliseconds else { return false }
        return atMilliseconds - startedAtMilliseconds > maxLife
    }

    mutating func show(_ push: PhonePush) {
        newestTimestampSeconds = push.timestampSeconds
        if let contentState = push.contentState { self.contentState = contentState }
        staleDateSeconds = push.staleDateSeconds
        appliedCount += 1
        if push.hasAlert { alertCount += 1 }
    }

    /// A dismissal date that has passed removes at once; otherwise the system waits four hours at most.
    mutating func end(_ push: PhonePush, atMilliseconds: Int64, settings: PhoneSettings) {
        endedAtMilliseconds = atMilliseconds
        let latest = atMilliseconds + settings.maxTimeOnLockScreenMilliseconds
        let asked = push.dismissalDateSeconds.map { Int64(min($0, 1e12) * 1_000) } ?? latest
        removalAtMilliseconds = max(atMilliseconds, min(asked, latest))
    }
}
