import Configuration
import Pacing
import Telemetry

extension PacingSettings {
    /// The options as they stand for the activities of one type; nil is for those that have none.
    public init(_ configuration: Configuration, attributesType: String? = nil) {
        self.init()
        func value<Value>(_ option: Option<Value>) -> Value { configuration[option, attributesType: attributesType] }
        let options = Options.pacing
        deadbandMeters = value(options.deadbandMeters)
        accuracyAware = value(options.accuracyAware)
        deadbandCeilingMeters = value(options.deadbandCeilingMeters)
        minIntervalMilliseconds = value(options.minInterval)
        urgentMinIntervalMilliseconds = value(options.urgentMinInterval)
        refresh = value(options.refresh)
        staleAfterMilliseconds = value(options.staleAfter)
        refreshLeadMilliseconds = value(options.refreshLead)
        renew = value(options.renew)
        tolerances = value(options.tolerances).sorted { $0.key < $1.key }.map {
            FieldTolerance(field: FieldPath($0.key), tolerance: $0.value)
        }
        discrete = value(options.discrete).map { FieldPath($0) }
        sequenceField = FieldPath(value(options.sequenceField))
        maxAccuracyMeters = value(options.maxAccuracyMeters)
        maxSpeedMetersPerSecond = value(options.maxSpeedMetersPerSecond)
        reanchorAfterMilliseconds = value(options.reanchorAfter)
        maxAgeMilliseconds = value(options.maxAge)
        maxFutureMilliseconds = value(options.maxFuture)
        allowNullIsland = value(options.allowNullIsland)
        autoStart = value(options.autoStart)
        maxActivityLifeMilliseconds = value(options.maxActivityLife)
        removeAfterMilliseconds = value(options.removeAfter)
        positionFields = PositionField.Source.allCases.compactMap { source in
            value(options.positionFields)?[source.rawValue].map { PositionField(source: source, field: FieldPath($0)) }
        }
        guard let profile = CadenceProfile(rawValue: value(options.profile)) else {
            preconditionFailure("pacing.profile: \(value(options.profile)) is declared and unknown to pacing")
        }
        self.profile = profile
    }
}
