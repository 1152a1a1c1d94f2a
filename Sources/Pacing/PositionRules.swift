/// Of the settings of one attributes type, what every position asks for: flat, so that asking counts no reference.
struct PositionRules {
    let deadbandMeters: Double
    let deadbandCeilingMeters: Double
    let maxAccuracyMeters: Double
    let maxSpeedMetersPerSecond: Double
    let reanchorAfterMilliseconds: Int64
    let maxAgeMilliseconds: Int64
    let maxFutureMilliseconds: Int64
    let accuracyAware: Bool
    let allowNullIsland: Bool
    /// Whether speed or heading of the newest position is written anywhere, and so has to be kept.
    let keepsMotion: Bool

    init(_ settings: PacingSettings) {
        deadbandMeters = settings.deadbandMeters
        deadbandCeilingMeters = settings.deadbandCeilingMeters
        maxAccuracyMeters = settings.maxAccuracyMeters
        maxSpeedMetersPerSecond = settings.maxSpeedMetersPerSecond
        reanchorAfterMilliseconds = settings.reanchorAfterMilliseconds
        maxAgeMilliseconds = settings.maxAgeMilliseconds
        maxFutureMilliseconds = settings.maxFutureMilliseconds
        accuracyAware = settings.accuracyAware
        allowNullIsland = settings.allowNullIsland
        keepsMotion = settings.positionFields.contains { $0.source == .speed || $0.source == .heading }
    }

    /// How far the phone may be wrong, given how sure either position is.
    func thresholdMeters(latest: Fix, shown: Fix) -> Double {
        let deadband = deadbandMeters
        guard accuracyAware else { return deadband }
        // Much surer than what is shown: the better fix is worth telling.
        if latest.accuracyMeters < shown.accuracyMeters / 2 { return deadband }
        let sum =
            (latest.accuracyMeters.isNaN ? 0 : latest.accuracyMeters)
            + (shown.accuracyMeters.isNaN ? 0 : shown.accuracyMeters)
        return max(deadband, min(sum, deadbandCeilingMeters))
    }
}
