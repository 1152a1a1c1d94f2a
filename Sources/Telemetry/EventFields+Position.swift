/// `position`.
extension EventFields {
    func position() throws(EventFault) -> Position {
        Position(
            coordinate: Coordinate(
                latitude: try degrees("latitude", limit: 90), longitude: try degrees("longitude", limit: 180)),
            accuracyMeters: try unlessNegative("accuracy"),
            speedMetersPerSecond: try unlessNegative("speed"),
            headingDegrees: try heading(),
            altitudeMeters: try number("altitude")?.double ?? .nan)
    }

    func positionDetail(app: String?) throws(EventFault) -> EventDetail? {
        let contentState = try object("contentState")
        if app == nil && contentState == nil { return nil }
        return EventDetail(app: app, contentState: contentState)
    }

    private func degrees(_ name: String, limit: Double) throws(EventFault) -> Double {
        guard let number = try number(name) else { throw missing(name, "publish it in degrees") }
        guard number.double.magnitude <= limit else {
            throw outOfRange(
                name, "is \(EventFault.quoted(number.text)); publish degrees from −\(Int(limit)) to \(Int(limit))")
        }
        return number.double
    }

    /// Phones report what they do not know as a negative number (Core Location).
    private func unlessNegative(_ name: String) throws(EventFault) -> Double {
        guard let number = try number(name), number.double >= 0 else { return .nan }
        return number.double
    }

    private func heading() throws(EventFault) -> Double {
        let heading = try unlessNegative("heading")
        guard !(heading > 360) else {
            throw outOfRange("heading", "is \(heading); publish degrees clockwise from north, at most 360")
        }
        return heading
    }
}
