import Telemetry

/// A place for couriers. The scale of its longitudes stands here as a number, so that no libm takes part in a recording's bytes.
struct City: Sendable {
    let middle: Coordinate
    let metersPerLongitudeDegree: Double

    static let metersPerLatitudeDegree = 111_194.93

    static let all = [
        City(middle: Coordinate(latitude: 48.1372, longitude: 11.5755), metersPerLongitudeDegree: 74_206.0),
        City(middle: Coordinate(latitude: 52.3731, longitude: 4.8926), metersPerLongitudeDegree: 67_884.0),
        City(middle: Coordinate(latitude: -25.4284, longitude: -49.2733), metersPerLongitudeDegree: 100_422.0),
        City(middle: Coordinate(latitude: 35.6812, longitude: 139.7671), metersPerLongitudeDegree: 90_320.0),
        City(middle: Coordinate(latitude: -16.7880, longitude: 179.9950), metersPerLongitudeDegree: 106_456.0),
    ]

    /// Rounded to seven decimals, as receivers report.
    func coordinate(eastMeters: Double, northMeters: Double) -> Coordinate {
        var longitude = middle.longitude + eastMeters / metersPerLongitudeDegree
        if longitude >= 180 { longitude -= 360 }
        return Coordinate(
            latitude: City.rounded(middle.latitude + northMeters / City.metersPerLatitudeDegree),
            longitude: City.rounded(longitude))
    }

    private static func rounded(_ degrees: Double) -> Double {
        (degrees * 1e7).rounded() / 1e7
    }
}
