/// How large a fleet, how long, and how badly its receivers and networks behave.
public struct FleetOptions: Sendable {
    public var seed: UInt64 = 1
    public var activities = 100
    public var durationMilliseconds: Int64 = 1_800_000
    /// Unix milliseconds of the first event.
    public var startMilliseconds: Int64 = 1_795_953_600_000
    public var positionIntervalMilliseconds: Int64 = 4_000
    /// Nil writes bare events, which carry no time of arrival and no key.
    public var partitions: Int32? = 4
    public var attributesType = "DeliveryAttributes"
    /// Of activities: begun by push, begun on the phone before its token is known, under another token midway.
    public var startTokenShare = 0.1
    public var lateTokenShare = 0.05
    public var rotationShare = 0.03
    /// Of activities: not ended by the recording's end.
    public var openShare = 0.1
    /// Of couriers: several orders at a time, which follow the courier.
    public var subjectShare = 0.2
    /// Of positions: repeated, delivered after their successor, far away, at (0, 0), with a wrong clock, hopelessly inaccurate.
    public var duplicateShare = 0.01
    public var outOfOrderShare = 0.005
    public var teleportShare = 0.003
    public var nullIslandShare = 0.002
    public var clockErrorShare = 0.002
    public var inaccurateShare = 0.003

    public init() {}
}
