import Streams

/// Keeps dead letters in topics beside those that are read.
final class DeadLetterTopics: DeadLetterSink {
    private let writer: KafkaDeadLetterWriter

    init(_ writer: KafkaDeadLetterWriter) { self.writer = writer }

    func place(of letter: DeadLetter) -> String { writer.topic(of: letter) }

    func write(_ letters: [DeadLetter], to place: String, done: @escaping (DeadLetterOutcome) -> Void) {
        writer.write(letters, to: place) { result in
            switch result {
            case .success: done(.written(trimmed: 0))
            case .failure(let fault): done(.failed(fault))
            }
        }
    }

    func check(done: @escaping (RedisDeadLetterWriter.Check) -> Void) {
        writer.check { result in
            switch result {
            case .success: done(.passed)
            case .failure(let fault): done(.refused(fault))
            }
        }
    }
}

extension KafkaSource {
    /// In the cluster that is read.
    func deadLetterTopics(_ settings: DeadLetterSettings) -> DeadLetterTopics {
        var writing = KafkaDeadLetterWriter.Settings(topics: self.settings.feed.topics, partitions: Int32(partitions))
        writing.topicPrefix = settings.topicPrefix
        return DeadLetterTopics(
            KafkaDeadLetterWriter(
                kafka: self.settings.kafka, settings: writing, loop: loop, instruments: instruments, log: log))
    }
}
