/// Where events come from.
public struct SourceGroup: Sendable {
    public let recording = Option.optional(
        "source.recording", .path, "A recording to read, JSON lines, .zst or not; - is standard input.")
    public let speed = Option.speed(
        "source.speed", standard: "1x",
        "How fast the recording's clock runs: a factor such as 1x or 20x, or max for as fast as answers come.")
    public let member = Option.optional(
        "source.member", .text(.member),
        "This process's name among those that share the streams of a group; unset is its host's name and its process id. Each process adds "
            + "eight digits of its own."
    )
}
