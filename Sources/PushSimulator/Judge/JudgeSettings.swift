import Telemetry

/// What was promised: the pacing's own parameters, and how exactly the journal's times are known.
public struct JudgeSettings: Sendable {
    public struct Cadence: Sendable, Equatable {
        public var burst: Int
        public var intervalMilliseconds: Int64

        public init(burst: Int, intervalMilliseconds: Int64) {
            self.burst = burst
            self.intervalMilliseconds = intervalMilliseconds
        }

        public static let standard = Cadence(burst: 4, intervalMilliseconds: 60_000)
        public static let frequent = Cadence(burst: 8, intervalMilliseconds: 15_000)
    }

    /// Nil is unlimited.
    public var cadence: Cadence? = .standard
    /// For activities whose device reports frequent updates.
    public var frequentCadence: Cadence? = .frequent
    public var urgentMinIntervalMilliseconds: Int64 = 5_000
    /// `staleAfter` − `refreshLead`.
    public var refreshAfterMilliseconds: Int64 = 150_000
    public var deadbandMeters = 75.0
    /// The widest deadband that poor accuracy can make; equal to the deadband where it is not accuracy-aware.
    public var deadbandCeilingMeters = 200.0
    public var tolerances: [FieldPath: Double] = [
        FieldPath("etaTimestamp"): 60, FieldPath("progressPercentage"): 0.05,
    ]
    public var discreteFields = [FieldPath("status")]
    /// Nil where positions are not written into the content-state.
    public var latitudeField: FieldPath? = FieldPath("latitude")
    public var longitudeField: FieldPath? = FieldPath("longitude")
    /// Further fields that the pacing writes itself; they are not compared.
    public var writtenFields: [FieldPath] = []
    public var sequenceField = FieldPath("sequenceNumber")
    public var maxActivityLifeMilliseconds: Int64? = 8 * 3_600_000
    /// How far an arrival may be from its send, on the journal's clock.
    public var slackMilliseconds: Int64 = 2_000
    /// Drops by the phone that are no fault of the sender.
    public var toleratedDrops: Set<Verdict.Drop> = [.offline]

    public init() {}

    /// The tolerance of the longest name that covers the field.
    func tolerance(of path: FieldPath) -> Double? {
        if discreteFields.contains(where: { $0.covers(path) }) { return nil }
        return tolerances.filter { $0.key.covers(path) }.max { $0.key.names.count < $1.key.names.count }?.value
    }

    func isWritten(_ path: FieldPath) -> Bool {
        path == sequenceField || path == latitudeField || path == longitudeField || writtenFields.contains(path)
    }
}
