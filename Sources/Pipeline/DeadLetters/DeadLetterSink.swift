import Streams

/// Where dead letters are kept: a file, streams, a topic.
protocol DeadLetterSink: AnyObject {
    /// What is put there is written in order, one call at a time.
    func place(of letter: DeadLetter) -> String
    /// Keeps letters of one place. Where it fails they may be handed over again.
    ///
    /// - Parameter done: is called once, at once or later, on the run's thread.
    func write(_ letters: [DeadLetter], to place: String, done: @escaping (DeadLetterOutcome) -> Void)
    /// Looks whether letters could be kept, before there is one.
    func check(done: @escaping (RedisDeadLetterWriter.Check) -> Void)
}

enum DeadLetterOutcome {
    /// They are kept; so many older ones had to go for it.
    case written(trimmed: Int)
    case failed(SourceFault)
}
