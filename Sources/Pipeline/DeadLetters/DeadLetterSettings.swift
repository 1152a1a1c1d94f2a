import Configuration
import Glibc

/// Where dead letters go, and when there are too many.
public struct DeadLetterSettings: Sendable {
    public enum Place: Sendable, Equatable {
        /// They are counted and logged alone.
        case nowhere
        case file(String)
        /// Beside the streams of the source.
        case streams
        /// Topics beside those of the source.
        case topics
    }

    public var place = Place.nowhere
    public var topicPrefix = "dlq."
    public var maxLength: Int64? = 100_000
    public var maxAgeMilliseconds: Int64?
    /// So many may wait to be written before reading stops.
    public var maxPending = 10_000
    public var flood = FloodGuard.Settings()
    /// Where the record in work is noted; nil where it is not.
    public var stateDirectory: String?
    public var maxCrashes = 3
    /// Of this program, as it stands in letters.
    public var version: String?

    public init() {}
}

extension DeadLetterSettings {
    /// `deadLetters`.
    public init(_ configuration: Configuration) {
        let options = Options.deadLetters
        switch configuration.deadLetterPlace {
        case "file": place = configuration[options.file].map { .file($0) } ?? .nowhere
        case "streams": place = .streams
        case "topics": place = .topics
        default: place = .nowhere
        }
        topicPrefix = configuration[options.topicPrefix]
        maxLength = Int64(configuration[options.maxLength])
        maxAgeMilliseconds = configuration[options.maxAge]
        maxPending = configuration[options.maxPending]
        stateDirectory =
            configuration[options.stateDirectory]
            ?? getenv("STATE_DIRECTORY").map { String(cString: $0).split(separator: ":").first.map(String.init) ?? "" }
        if stateDirectory?.isEmpty == true { stateDirectory = nil }
        maxCrashes = configuration[options.maxCrashes]
        flood.maxRatio = configuration[options.maxRatio]
        flood.minCount = configuration[options.minCount]
        flood.windowMilliseconds = configuration[options.window]
    }
}
