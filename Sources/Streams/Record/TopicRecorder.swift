/// Reads a topic without leaving a trace there, and writes a recording of it.
///
/// Belongs to the thread of its client's loop.
public protocol TopicRecorder: AnyObject {
    var records: Int { get }
    /// What was there and holds no event: it is not in the recording.
    var withoutBody: Int { get }
    /// Whether it is known of every partition where reading began.
    var hasBegun: Bool { get }
    /// When the newest record came, or reading had begun. Monotonic clock.
    var newestMilliseconds: Int64 { get }
    /// As many records as were asked for are written, or something cannot be gone on with.
    var isDone: Bool { get }
    /// Whether there is more to do at once.
    var isBusy: Bool { get }
    /// Why it cannot go on.
    var failure: (any Error)? { get }

    /// To be called after each turn of the loop.
    func advance()
    /// Writes what waits for older records to come first, and ends the recording.
    func finish() throws(SourceFault)
}

extension RedisStreamRecorder: TopicRecorder {
    public var isBusy: Bool { false }
    public var failure: (any Error)? { fault }
    /// It lives by its own timer.
    public func advance() {}
}
