import Telemetry

/// What a phone's receiver makes of the true place: jitter that wanders, worse between tall houses, nothing in tunnels.
struct GPSReceiver {
    private let reportsAccuracy: Bool
    private let reportsMotion: Bool
    private let openSkyMeters: Double
    private var eastErrorMeters = 0.0
    private var northErrorMeters = 0.0
    private var canyonUntilMilliseconds: Int64 = 0
    private var tunnelUntilMilliseconds: Int64 = 0

    init(random: inout SeededRandom) {
        reportsAccuracy = random.chance(0.8)
        reportsMotion = random.chance(0.7)
        openSkyMeters = random.double(in: 3...9)
    }

    /// The reading as event fields; nil in a tunnel.
    mutating func read(
        _ walk: StreetWalk, in city: City, atMilliseconds: Int64, random: inout SeededRandom
    ) -> JSONObject? {
        if random.chance(0.004) {
            tunnelUntilMilliseconds = atMilliseconds + Int64(random.integer(in: 20_000...90_000))
        }
        if random.chance(0.01) {
            canyonUntilMilliseconds = atMilliseconds + Int64(random.integer(in: 20_000...120_000))
        }
        guard atMilliseconds >= tunnelUntilMilliseconds else { return nil }
        let isCanyon = atMilliseconds < canyonUntilMilliseconds
        let accuracyMeters = openSkyMeters * (isCanyon ? random.double(in: 3...6) : random.double(in: 0.8...1.4))
        // A receiver's error has a memory: 0.9 of it stays, and the rest keeps its variance.
        eastErrorMeters = 0.9 * eastErrorMeters + 0.436 * accuracyMeters / 2 * random.normal()
        northErrorMeters = 0.9 * northErrorMeters + 0.436 * accuracyMeters / 2 * random.normal()
        let coordinate = city.coordinate(
            eastMeters: walk.eastMeters + eastErrorMeters, northMeters: walk.northMeters + northErrorMeters)
        var fields = JSONObject()
        fields["latitude"] = .number(JSONNumber(shortest: coordinate.latitude))
        fields["longitude"] = .number(JSONNumber(shortest: coordinate.longitude))
        if reportsAccuracy { fields["accuracy"] = .number(JSONNumber(shortest: (accuracyMeters * 10).rounded() / 10)) }
        if reportsMotion {
            fields["speed"] = .number(JSONNumber(shortest: (walk.speedMetersPerSecond * 100).rounded() / 100))
            fields["heading"] = .number(JSONNumber(shortest: walk.headingDegrees))
        }
        return fields
    }
}
