import Telemetry

/// Is this position believable, by itself and beside the last one taken?
enum Sanity {
    private static let rolloverMilliseconds: Int64 = 1024 * 7 * 24 * 3_600_000

    /// The rows `null_island` to `too_old`.
    static func drop(_ event: Event, _ rules: PositionRules, _ moment: Instant) -> Decision? {
        let position = event.position
        if position.coordinate.latitude == 0, position.coordinate.longitude == 0, !rules.allowNullIsland {
            return .nullIsland
        }
        if position.accuracyMeters > rules.maxAccuracyMeters { return .inaccurate }
        let ahead = event.timestampMilliseconds - moment.wallMilliseconds
        if ahead > rules.maxFutureMilliseconds { return .future }
        if -ahead > rules.maxAgeMilliseconds { return .tooOld }
        return nil
    }

    /// Whether a time that is `future` or `too_old` would be neither if a GPS week counter had not rolled over (every 1,024 weeks).
    static func isWeekRollover(_ event: Event, _ rules: PositionRules, _ moment: Instant) -> Bool {
        let ahead = event.timestampMilliseconds - moment.wallMilliseconds
        let (rollovers, rest) = ahead.quotientAndRemainder(dividingBy: rolloverMilliseconds)
        return [
            (rollovers, rest), (rollovers + 1, rest - rolloverMilliseconds),
            (rollovers - 1, rest + rolloverMilliseconds),
        ]
        .contains { $0 != 0 && $1 <= rules.maxFutureMilliseconds && -$1 <= rules.maxAgeMilliseconds }
    }

    enum Plausibility { case plausible, implausible, notFinite }

    /// By the speed that the way from one to the other takes; less than a second apart counts as one.
    static func plausibility(
        from earlier: Fix, atMilliseconds earlierTime: Int64, to later: Fix, atMilliseconds laterTime: Int64,
        _ rules: PositionRules
    ) -> Plausibility {
        let seconds = max(1, Double(laterTime - earlierTime) / 1000)
        let limitMeters = rules.maxSpeedMetersPerSecond * seconds
        if earlier.distanceBoundMeters(to: later) <= limitMeters { return .plausible }
        let meters = earlier.coordinate.distanceMeters(to: later.coordinate)
        guard meters.isFinite else { return .notFinite }
        return meters / seconds > rules.maxSpeedMetersPerSecond ? .implausible : .plausible
    }
}
