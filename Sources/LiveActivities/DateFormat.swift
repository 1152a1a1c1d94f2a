import Telemetry

/// How the app decodes a date field.
public enum DateFormat: String, Sendable, CaseIterable {
    /// Unix seconds.
    case unix
    /// Seconds since 2001-01-01T00:00:00Z: what a Swift `Date` decodes from with a plain `JSONDecoder`.
    case apple
    /// RFC 3339 text in UTC.
    case iso8601
}

/// Declares a field as a date. Producers give Unix seconds or RFC 3339; the phone gets `format`.
public struct DateField: Sendable {
    /// Member names from the outside; an array on the way means each of its elements.
    public let path: FieldPath
    public let format: DateFormat

    public init(path: FieldPath, format: DateFormat) {
        self.path = path
        self.format = format
    }
}
