import Telemetry
import Testing

@Suite struct CoordinateTests {
    private func distance(_ fromLatitude: Double, _ fromLongitude: Double, _ toLatitude: Double, _ toLongitude: Double)
        -> Double
    {
        Coordinate(latitude: fromLatitude, longitude: fromLongitude)
            .distanceMeters(to: Coordinate(latitude: toLatitude, longitude: toLongitude))
    }

    /// Meters on the mean sphere; each of these made some distance function in the field answer NaN, or a way around the world.
    @Test(arguments: [
        // from latitude, longitude, to latitude, longitude, meters, within
        ([65.09034271683089, -121.96981239217565, -65.0903427168311, 58.03018760782425], 20_015_114.44, 0.01),
        ([-82, 0, 82, -180], 20_015_114.44, 0.01),
        ([40.71199035644531, -74.0081, 40.71199035644531, -74.0081], 0, 0),
        ([43.647862, -79.39290290000002, 43.647862, -79.392903], 0.008, 0.0005),
        ([0, 179, 0, -179], 222_390, 5),
        ([68.95933, 179.993481, 68.954544, -179.954919], 2_128, 10),
        ([40.08, 116.585, 33.943, -118.408], 10_037_000, 5_000),
        // a degree of latitude, a quarter of a meridian, pole to pole
        ([0, 0, 1, 0], 111_195.08, 0.01), ([0, 0, 90, 0], 10_007_557.22, 0.01),
        ([90, 0, -90, 77], 20_015_114.44, 0.01),
        ([90, 0, 90, 123], 0, 1e-6), ([0, 180, 0, -180], 0, 1e-6),
        // London to Paris
        ([51.5007, -0.1246, 48.8584, 2.2945], 340_550, 200),
    ])
    func distancesAreThoseOfTheMeanSphere(ends: [Double], meters: Double, within: Double) {
        let there = distance(ends[0], ends[1], ends[2], ends[3])
        #expect((there - meters).magnitude <= within, "\(there)")
        #expect((distance(ends[2], ends[3], ends[0], ends[1]) - there).magnitude <= 1e-6)
    }

    @Test func everyGridCentreIsAtZeroFromItself() {
        for latitude in stride(from: -89.5, through: 89.5, by: 1) {
            for longitude in stride(from: -179.5, through: 179.5, by: 2) {
                let found = distance(latitude, longitude, latitude, longitude)
                if found != 0 { Issue.record("(\(latitude), \(longitude)) is \(found) m from itself") }
            }
        }
    }

    @Test func drawnAntipodesAreHalfAWorldAwayAndNeverNaN() {
        var random = SeededRandom(seed: 20_015_114)
        let half = Double.pi * Coordinate.earthRadiusMeters
        for _ in 0..<20_000 {
            let latitude = Double.random(in: -90...90, using: &random)
            let longitude = Double.random(in: -180...180, using: &random)
            let opposite = longitude > 0 ? longitude - 180 : longitude + 180
            let nudge = Double.random(in: -1e-9...1e-9, using: &random)
            let found = distance(latitude, longitude, -latitude + nudge, opposite)
            // The term is near 1 there, where its last bit is worth a few tenths of a meter.
            if !((found - half).magnitude < 1) || found > half + 1e-6 {
                Issue.record("\(latitude), \(longitude): \(found)")
            }
        }
    }

    @Test func drawnPairsObeyTheTriangle() {
        var random = SeededRandom(seed: 3)
        func draw() -> Coordinate {
            Coordinate(
                latitude: Double.random(in: -90...90, using: &random),
                longitude: Double.random(in: -180...180, using: &random))
        }
        for _ in 0..<5000 {
            let (first, second, third) = (draw(), draw(), draw())
            let direct = first.distanceMeters(to: third)
            let around = first.distanceMeters(to: second) + second.distanceMeters(to: third)
            if !(direct <= around + 1) { Issue.record("\(first) \(second) \(third): \(direct) > \(around)") }
        }
    }

    @Test func whatIsNotFiniteHasNoDistance() {
        for bad in [Double.nan, .infinity, -.infinity] {
            #expect(distance(bad, 0, 0, 0).isNaN)
            #expect(distance(0, bad, 0, 0).isNaN)
            #expect(distance(0, 0, bad, 0).isNaN)
            #expect(distance(0, 0, 0, bad).isNaN)
        }
    }
}
