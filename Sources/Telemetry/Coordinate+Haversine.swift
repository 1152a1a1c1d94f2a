import CMath

extension Coordinate {
    /// Mean radius of the Earth in meters (IUGG, R1).
    public static let earthRadiusMeters = 6_371_008.8

    /// Great-circle distance by the Haversine formula, its term clamped to [0, 1], since rounding pushes it past 1 near antipodes
    /// and below 0 nowhere but in a faulty libm.
    ///
    /// Not finite exactly when an input is not finite: the caller refuses such a distance instead of comparing with it.
    public func distanceMeters(to other: Coordinate) -> Double {
        let radiansPerDegree = Double.pi / 180
        let halfLatitude = cmath_sin((other.latitude - latitude) * radiansPerDegree / 2)
        let halfLongitude = cmath_sin((other.longitude - longitude) * radiansPerDegree / 2)
        let term =
            halfLatitude * halfLatitude
            + cmath_cos(latitude * radiansPerDegree) * cmath_cos(other.latitude * radiansPerDegree) * halfLongitude
            * halfLongitude
        guard term.isFinite else { return .nan }
        return 2 * Coordinate.earthRadiusMeters * cmath_asin(min(1, max(0, term)).squareRoot())
    }
}
