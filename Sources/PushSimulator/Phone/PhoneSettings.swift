import Telemetry

/// How the phones behave. What Apple does not publish is a setting.
public struct PhoneSettings: Sendable {
    public var maxTimestampLeadMilliseconds: Int64 = 8 * 3_600_000
    /// Apple says only that an older timestamp is ignored; of an equal one it says nothing.
    public var dropsEqualTimestamps = true
    /// An `update` whose timestamp lags its arrival by more is dropped; nil is off. Reports name 50 to 200 s.
    public var maxLagSeconds: Double?
    public var maxStarts = 10
    public var startWindowMilliseconds: Int64 = 3_600_000
    /// Activities one phone shows at a time.
    public var maxActivities = 5
    public var maxContentBytes = 4_096
    /// Pushes with priority 10 an hour for one activity; nil is off.
    public var maxUrgentPerHour: Int?
    /// The system ends an activity that is older; nil is off.
    public var maxActivityLifeMilliseconds: Int64? = 8 * 3_600_000
    public var maxTimeOnLockScreenMilliseconds: Int64 = 4 * 3_600_000
    /// 18 and later know channels.
    public var systemMajorVersion = 18
    public var channels: Set<String> = []
    public var updateTokenDelayMilliseconds: Int64 = 2_000
    /// Share of started activities whose update token is never reported.
    public var updateTokenLossShare = 0.0
    /// The attribute that names the activity, so that a start push and its update token can be told to be one activity's.
    public var activityIdentifierAttribute = "activityId"
    /// The app's types by attributes type. Where it is not empty, a start of another type is dropped.
    public var types: [String: AppType] = [:]
    public var seed: UInt64 = 1

    public init() {}

    /// What an app decodes: each closure says whether the object would decode.
    public struct AppType: Sendable {
        public var decodesContentState: @Sendable (JSONObject) -> Bool
        public var decodesAttributes: @Sendable (JSONObject) -> Bool

        public init(
            decodesContentState: @escaping @Sendable (JSONObject) -> Bool,
            decodesAttributes: @escaping @Sendable (JSONObject) -> Bool = { _ in true }
        ) {
            self.decodesContentState = decodesContentState
            self.decodesAttributes = decodesAttributes
        }
    }
}
