/// How much somebody should care.
public enum LogLevel: String, MetricLabel, Comparable {
    case trace, debug, info, warning, error

    public static var labelName: String { "level" }
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.ordinal < right.ordinal }
}

/// One `key: value` of a log line. The keys below are stable: dashboards and searches may rely on them.
public struct LogField: Sendable, Equatable {
    public let key: String
    public let value: Value

    public enum Value: Sendable, Equatable {
        case text(String)
        case integer(Int64)
        case number(Double)
        case flag(Bool)
    }

    init(_ key: String, _ value: Value) {
        self.key = key
        self.value = value
    }

    public static func topic(_ name: String) -> LogField { LogField("topic", .text(name)) }
    public static func partition(_ number: Int) -> LogField { LogField("partition", .integer(Int64(number))) }
    public static func offset(_ offset: Int64) -> LogField { LogField("offset", .integer(offset)) }
    public static func activity(_ id: String) -> LogField { LogField("activity", .text(id)) }
    public static func token(_ token: Fingerprint) -> LogField { LogField("token", .text(token.description)) }
    /// What went wrong.
    public static func error(_ error: some CustomStringConvertible) -> LogField {
        LogField("error", .text(error.description))
    }
    /// What the reader can do about it.
    public static func hint(_ text: String) -> LogField { LogField("hint", .text(text)) }

    /// Anything else; the key is a literal in lowerCamelCase with its unit last (`waitMilliseconds`).
    public static func field(_ key: StaticString, _ value: String) -> LogField {
        LogField(key.description, .text(value))
    }
    public static func field(_ key: StaticString, _ value: some BinaryInteger) -> LogField {
        LogField(key.description, .integer(Int64(clamping: value)))
    }
    public static func field(_ key: StaticString, _ value: Double) -> LogField {
        LogField(key.description, .number(value))
    }
    public static func field(_ key: StaticString, _ value: Bool) -> LogField { LogField(key.description, .flag(value)) }
}
