/// A point on the Earth in degrees, WGS 84, as the W3C Geolocation API names it.
public struct Coordinate: Equatable, Sendable {
    /// Degrees, −90…90.
    public var latitude: Double
    /// Degrees, −180…180.
    public var longitude: Double

    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}
