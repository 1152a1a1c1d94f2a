import Configuration
import Streams

/// Where feedback goes, and what of it.
public struct FeedbackSettings: Sendable {
    public enum Place: Sendable, Equatable {
        case off
        case file(String)
        /// In the Redis that checkpoints lie in.
        case streams
        /// In the cluster that is read.
        case topics
    }

    public var place = Place.off
    public var topic = "waypulse.feedback"
    public var kinds = Set(FeedbackEvent.Kind.allCases)
    /// About so many entries a stream keeps.
    public var maxLength: Int64 = 1_000_000
    /// So many events may wait to be written; then they are dropped.
    public var maxPending = 65_536
    /// So long a save waits for what it says is over to be told.
    public var saveWaitMilliseconds: Int64 = 1_000

    public init() {}
}

extension FeedbackSettings {
    /// `feedback`.
    public init(_ configuration: Configuration) {
        let options = Options.feedback
        switch configuration[options.to] {
        case "file": place = configuration[options.file].map { .file($0) } ?? .off
        case "streams": place = .streams
        case "topics": place = .topics
        default: place = .off
        }
        topic = configuration[options.topic]
        kinds = Set(configuration[options.events].compactMap(FeedbackEvent.Kind.init))
        maxLength = Int64(configuration[options.maxLength])
        maxPending = configuration[options.maxPending]
        saveWaitMilliseconds = configuration[options.saveWait]
    }
}
