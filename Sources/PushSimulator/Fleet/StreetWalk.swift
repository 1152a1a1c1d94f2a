/// A courier on a street grid: straight on, a turn at some crossings, a stop at some lights. Meters east and north of the city's middle.
struct StreetWalk {
    private(set) var eastMeters: Double
    private(set) var northMeters: Double
    private(set) var speedMetersPerSecond = 0.0
    /// 0 north, 1 east, 2 south, 3 west.
    private var direction: Int
    private let cruiseMetersPerSecond: Double
    private let blockMeters: (east: Double, north: Double)
    private var metersToCrossing: Double
    private var stopMilliseconds: Int64 = 0

    var headingDegrees: Double { Double(direction * 90) }

    init(random: inout SeededRandom) {
        blockMeters = (random.double(in: 90...220), random.double(in: 60...140))
        eastMeters = Double(random.integer(in: -20...20)) * blockMeters.east
        northMeters = Double(random.integer(in: -20...20)) * blockMeters.north
        direction = random.integer(in: 0...3)
        cruiseMetersPerSecond = random.chance(0.3) ? random.double(in: 1.2...2.2) : random.double(in: 4...13)
        metersToCrossing = 0
        metersToCrossing = blockLengthMeters
    }

    private var blockLengthMeters: Double { direction % 2 == 0 ? blockMeters.north : blockMeters.east }

    mutating func step(milliseconds: Int64, random: inout SeededRandom) {
        var left = milliseconds
        while left > 0 {
            if stopMilliseconds > 0 {
                let waited = min(left, stopMilliseconds)
                stopMilliseconds -= waited
                left -= waited
                speedMetersPerSecond = 0
                continue
            }
            speedMetersPerSecond = cruiseMetersPerSecond * random.double(in: 0.7...1.15)
            let meters = min(speedMetersPerSecond * Double(left) / 1_000, metersToCrossing)
            move(meters)
            left -= max(1, Int64(meters / speedMetersPerSecond * 1_000))
            if metersToCrossing < 0.01 { cross(&random) }
        }
    }

    /// Stays where it is, at a door or a counter.
    mutating func stop(milliseconds: Int64) {
        stopMilliseconds += milliseconds
    }

    private mutating func move(_ meters: Double) {
        metersToCrossing -= meters
        switch direction {
        case 0: northMeters += meters
        case 1: eastMeters += meters
        case 2: northMeters -= meters
        default: eastMeters -= meters
        }
    }

    private mutating func cross(_ random: inout SeededRandom) {
        let turn = random.unit()
        if turn < 0.2 { direction = (direction + 1) % 4 } else if turn < 0.4 { direction = (direction + 3) % 4 }
        metersToCrossing = blockLengthMeters
        if random.chance(0.3) { stop(milliseconds: Int64(random.integer(in: 5_000...40_000))) }
    }
}
