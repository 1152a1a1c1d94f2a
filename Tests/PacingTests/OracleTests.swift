import Telemetry
import Testing

@testable import Pacing

/// The plainest filter that the engine has to agree with when everything else is switched off: a deadband against the last position
/// sent, and a minimum interval whose end looks at the newest position.
private struct DeadbandOracle {
    struct Emission: Equatable {
        let atMilliseconds: Int64
        let pointMilliseconds: Int64
    }

    let deadbandMeters: Double
    let minIntervalMilliseconds: Int64

    private(set) var emissions: [Emission] = []
    private var newest: (milliseconds: Int64, coordinate: Coordinate)?
    private var anchor: Coordinate?
    private var dueMilliseconds: Int64?

    init(deadbandMeters: Double, minIntervalMilliseconds: Int64) {
        self.deadbandMeters = deadbandMeters
        self.minIntervalMilliseconds = minIntervalMilliseconds
    }

    mutating func feed(_ milliseconds: Int64, _ coordinate: Coordinate) {
        if let newest, milliseconds <= newest.milliseconds { return }
        if let dueMilliseconds, dueMilliseconds < milliseconds { look(at: dueMilliseconds) }
        newest = (milliseconds, coordinate)
        if let last = emissions.last, milliseconds < last.atMilliseconds + minIntervalMilliseconds {
            if isBeyond(coordinate) { dueMilliseconds = last.atMilliseconds + minIntervalMilliseconds }
        } else {
            look(at: milliseconds)
        }
    }

    mutating func finish() {
        if let dueMilliseconds { look(at: dueMilliseconds) }
    }

    private mutating func look(at milliseconds: Int64) {
        dueMilliseconds = nil
        guard let newest, isBeyond(newest.coordinate) else { return }
        emissions.append(Emission(atMilliseconds: milliseconds, pointMilliseconds: newest.milliseconds))
        anchor = newest.coordinate
    }

    private func isBeyond(_ coordinate: Coordinate) -> Bool {
        guard let anchor else { return true }
        return anchor.distanceMeters(to: coordinate) > deadbandMeters
    }
}

@Suite("Agreement with the plain filter, send for send")
struct OracleTests {
    /// Walks at ordinary places and at the edges of the globe, with equal, older and far later times among them.
    @Test("on generated traces", arguments: 0..<120)
    func agreement(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let deadband = [10.0, 75, 200].randomElement(using: &random)!
        let interval = [0, 1_000, 5_000, 15_000, 60_000].randomElement(using: &random)! as Int64
        let start = [
            Coordinate(latitude: 0, longitude: 0), Coordinate(latitude: 51.5, longitude: -0.1),
            Coordinate(latitude: -16.8, longitude: 179.9999), Coordinate(latitude: 89.9998, longitude: 30),
            Coordinate(latitude: -89.9999, longitude: -120), Coordinate(latitude: 71, longitude: -180),
        ].randomElement(using: &random)!
        var settings = PacingSettings.defaults
        settings.deadbandMeters = deadband
        settings.minIntervalMilliseconds = interval
        settings.profile = .unlimited
        settings.refresh = false
        settings.accuracyAware = false
        settings.maxActivityLifeMilliseconds = nil
        settings.allowNullIsland = true
        settings.maxAccuracyMeters = 1e6
        settings.maxSpeedMetersPerSecond = 1e9
        settings.maxAgeMilliseconds = 100 * 365 * 86_400_000
        settings.maxFutureMilliseconds = 100 * 365 * 86_400_000
        let run = VirtualRun(settings)
        var oracle = DeadbandOracle(deadbandMeters: deadband, minIntervalMilliseconds: interval)
        var (seconds, north, east) = (100.0, 0.0, 0.0)
        for _ in 0..<300 {
            seconds += [0, 1, 1, 1, 2, 5, 17, -3, 40, 0.25].randomElement(using: &random)!
            let step = [0.0, 3, 20, 60, 150].randomElement(using: &random)!
            north += Double.random(in: -step...step, using: &random)
            east += Double.random(in: -step...step, using: &random)
            let coordinate = RandomPlace.offset(start, north: north, east: east)
            let event = EventBuilder().position(seconds, at: coordinate)
            // The clock of a recording is the largest time seen.
            let now = max(run.nowMilliseconds, event.timestampMilliseconds)
            run.apply(event, at: Double(now - EventBuilder.epochMilliseconds) / 1000)
            oracle.feed(event.timestampMilliseconds, coordinate)
        }
        run.finish()
        oracle.finish()
        let emissions = run.updates.map {
            DeadbandOracle.Emission(
                atMilliseconds: $0.takenAt.nowMilliseconds, pointMilliseconds: $0.positionTimestampMilliseconds ?? 0)
        }
        #expect(emissions == oracle.emissions, "seed \(seed)")
        #expect(emissions.count > 1)
    }
}

enum RandomPlace {
    /// So many meters away on the plane; over a pole the meridian changes, past 180 degrees the sign.
    static func offset(_ start: Coordinate, north: Double, east: Double) -> Coordinate {
        var latitude = start.latitude + north / EventBuilder.metersPerDegree
        let parallel = max(1e-6, 1 - abs(start.latitude) / 90)
        var longitude = start.longitude + east / EventBuilder.metersPerDegree / parallel
        if abs(latitude) > 90 {
            latitude = (latitude < 0 ? -180 : 180) - latitude
            longitude += 180
        }
        longitude = (longitude + 180).truncatingRemainder(dividingBy: 360)
        if longitude < 0 { longitude += 360 }
        return Coordinate(latitude: latitude, longitude: longitude - 180)
    }
}
