/// Where the services that publish events are told what became of them.
public struct FeedbackGroup: Sendable {
    public let to = Option.choice(
        "feedback.to", standard: "off", of: ["off", "file", "streams", "topics"],
        "Where it is told what became of pushes and activities: to a file; to streams in the Redis that checkpoints lie in; to a topic of the "
            + "cluster of source.kafka.")
    public let file = Option.optional(
        "feedback.file", .path,
        "Where feedback is appended, an event a line. It may be moved away, or copied and cut to nothing, at any time.")
    public let topic = Option.text(
        "feedback.topic", standard: "waypulse.feedback", .name, scope: .process,
        "The topic of feedback. In Redis it is the streams waypulse.feedback:{0}, :{1}, …, as many as there are partitions."
    )
    public let events = Option.list(
        "feedback.events", standard: FeedbackGroup.kinds.joined(separator: ","), scope: .process,
        "Which events are told. push.accepted is by far the most frequent.")
    public let maxLength = Option.integer(
        "feedback.maxLength", standard: 1_000_000, in: 100...1_000_000_000,
        "About how many events each of those streams keeps; the oldest go first.")
    public let maxPending = Option.integer(
        "feedback.maxPending", standard: 65_536, in: 100...10_000_000,
        "How many events may wait to be written; then they are dropped and counted, push.accepted from three quarters of that on."
    )

    public let saveWait = Option.duration(
        "feedback.saveWait", standard: "1s", in: 0...10_000,
        "How long a checkpoint waits until what it says is over has been told, so that a crash loses none of it. Then pushing matters more."
    )

    static let kinds = ["push.accepted", "push.refused", "token.gone", "activity.ended", "start.unknown"]
}
