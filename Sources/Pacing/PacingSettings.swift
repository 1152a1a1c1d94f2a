import Telemetry

/// When an update is worth sending, and how often one may go. The defaults are the product's.
public struct PacingSettings: Equatable, Sendable {
    /// How far the phone may be wrong before that counts.
    public var deadbandMeters = 75.0
    /// Whether the uncertainty of both positions widens the deadband.
    public var accuracyAware = true
    /// The widest that uncertainty can make the deadband.
    public var deadbandCeilingMeters = 200.0
    public var minIntervalMilliseconds: Int64 = 15_000
    public var profile = CadenceProfile.auto
    /// The least time between urgent updates once the cadence bucket is exhausted.
    public var urgentMinIntervalMilliseconds: Int64 = 5_000
    public var refresh = true
    public var staleAfterMilliseconds: Int64 = 180_000
    public var refreshLeadMilliseconds: Int64 = 30_000
    /// Whether an activity at the end of its life is renewed through its start token instead of ended.
    public var renew = false
    public var tolerances = [
        FieldTolerance(field: FieldPath("etaTimestamp"), tolerance: 60),
        FieldTolerance(field: FieldPath("progressPercentage"), tolerance: 0.05),
    ]
    /// Fields of which any change is urgent.
    public var discrete = [FieldPath("status")]
    /// What the newest position writes into the content-state; empty for `off`.
    public var positionFields = [
        PositionField(source: .latitude, field: FieldPath("latitude")),
        PositionField(source: .longitude, field: FieldPath("longitude")),
    ]
    public var sequenceField = FieldPath("sequenceNumber")
    public var maxAccuracyMeters = 200.0
    public var maxSpeedMetersPerSecond = 100.0
    /// After so much event time without a plausible position the next one is taken as it is.
    public var reanchorAfterMilliseconds: Int64 = 120_000
    public var maxAgeMilliseconds: Int64 = 3_600_000
    public var maxFutureMilliseconds: Int64 = 60_000
    public var allowNullIsland = false
    /// Whether the first event of an unknown activity begins it.
    public var autoStart = true
    /// Nil for `off`. ActivityKit ends an activity after eight hours.
    public var maxActivityLifeMilliseconds: Int64? = 8 * 3_600_000
    /// How long an ended activity is remembered.
    public var removeAfterMilliseconds: Int64 = 12 * 3_600_000

    public init() {}

    public static let defaults = PacingSettings()
}

public enum CadenceProfile: String, CaseIterable, Sendable {
    /// `frequent` where the device reports frequent updates enabled, else `standard`.
    case auto
    case standard, frequent, unlimited
}

/// A field whose number may differ from what the phone shows by less than `tolerance`.
public struct FieldTolerance: Equatable, Sendable {
    public var field: FieldPath
    public var tolerance: Double

    public init(field: FieldPath, tolerance: Double) {
        self.field = field
        self.tolerance = tolerance
    }
}

/// One line of `pacing.positionFields`: a part of the newest position, and where it is written.
public struct PositionField: Equatable, Sendable {
    public enum Source: String, CaseIterable, Sendable {
        case latitude, longitude, accuracy, speed, heading
        /// Unix seconds.
        case positionTimestamp
    }

    public var source: Source
    public var field: FieldPath

    public init(source: Source, field: FieldPath) {
        self.source = source
        self.field = field
    }
}

/// All that a shard is told once.
public struct ShardSettings: Sendable {
    public var `default`: PacingSettings
    public var byAttributesType: [String: PacingSettings]
    /// Configured applications; the place of one is the index of its pool.
    public var apps: [String]
    /// In `plan` an activity that began without `activity.started` has a target from its first event.
    public var planTargets: Bool
    /// In `plan` no credit is ever missing: all leave from one pool, in the order in which they became possible.
    public var keepsOrderOfRelease = false
    /// A store keeps checkpoints: no number is used, and no start leaves, before it has promised to remember.
    public var keepsCheckpoints = false
    /// There is a registry of tokens, and somebody asks it what `takeErrands` gives: no start leaves that it has not counted.
    public var asksRegistry = false
    /// Schema check of a merged content-state; nil where it fits.
    public var check: @Sendable (_ attributesType: String?, _ contentState: ContentState) -> EventFault?
    public var checkAttributes: @Sendable (_ attributesType: String?, _ attributes: JSONObject) -> EventFault?
    /// Keys the hash of ids: drawn at random at start-up, since ids may be chosen by an attacker.
    public var hashSeed: UInt64
    #if PLANTED_DEFECTS
        package var plantedDefect: PlantedDefect?
    #endif

    public init(
        default settings: PacingSettings = .defaults, byAttributesType: [String: PacingSettings] = [:],
        apps: [String] = [], planTargets: Bool = false, hashSeed: UInt64 = 0,
        check: @escaping @Sendable (String?, ContentState) -> EventFault? = { _, _ in nil },
        checkAttributes: @escaping @Sendable (String?, JSONObject) -> EventFault? = { _, _ in nil }
    ) {
        self.default = settings
        self.byAttributesType = byAttributesType
        self.apps = apps
        self.planTargets = planTargets
        self.hashSeed = hashSeed
        self.check = check
        self.checkAttributes = checkAttributes
    }
}
