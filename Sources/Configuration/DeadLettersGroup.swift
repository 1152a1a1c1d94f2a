/// Where events go that cannot be used, and when there are too many of them.
public struct DeadLettersGroup: Sendable {
    public let to = Option.optional(
        "deadLetters.to", .choice(["nowhere", "file", "streams", "topics"]),
        "Where they are kept. Unset is file where deadLetters.file is set, else streams with source.redis, topics with "
            + "source.kafka, else nowhere: they are counted and logged alone.")
    public let file = Option.optional(
        "deadLetters.file", .path, "Where events that cannot be used are appended with their reason, as JSON lines.")
    public let topicPrefix = Option.text(
        "deadLetters.topicPrefix", standard: "dlq.", .name, scope: .process,
        "What stands before a topic's name in that of its dead letters: those of rides:{3} lie in dlq.rides:{3}, those of Kafka's topic rides in dlq.rides."
    )
    public let maxLength = Option.integer(
        "deadLetters.maxLength", standard: 100_000, in: 100...1_000_000_000,
        "About how many dead letters each of those streams keeps; the oldest go first, counted.")
    public let maxAge = Option.durationOrOff(
        "deadLetters.maxAge", standard: "off", in: 60_000...Bounds.duration.upperBound,
        "How old the records in those streams may become before they are trimmed.")
    public let maxPending = Option.integer(
        "deadLetters.maxPending", standard: 10_000, in: 1...1_000_000,
        "How many dead letters may wait to be written; then no more is read until they are.")
    public let maxRatio = Option.number(
        "deadLetters.maxRatio", standard: "0.5", in: 0...1,
        "The share of dead letters among the records of a window beyond which reading stops, for a person to look; 1 never stops."
    )
    public let minCount = Option.integer(
        "deadLetters.minCount", standard: 1_000, in: 1...1_000_000_000,
        "Fewer dead letters than this in a window never stop reading, whatever their share.")
    public let stateDirectory = Option.optional(
        "deadLetters.stateDirectory", .path,
        "A folder that outlives the process, where it notes the record in work, so that one that crashes it is found. Unset is "
            + "$STATE_DIRECTORY, as systemd sets it; without either, such a record is not told from others.")
    public let maxCrashes = Option.integer(
        "deadLetters.maxCrashes", standard: 3, in: 1...1000,
        "How often a process may end with the same record in work; then the record becomes a dead letter unparsed.")
    public let window = Option.duration(
        "deadLetters.window", standard: "60s", in: 1000...Bounds.hour, "The window of maxRatio and minCount.")
}
