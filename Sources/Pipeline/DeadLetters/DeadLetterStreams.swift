import Glibc
import RedisClient
import Streams

/// Keeps dead letters in streams beside those that are read.
final class DeadLetterStreams: DeadLetterSink {
    private let writer: RedisDeadLetterWriter
    private let topics: [String]
    private let partitions: Int32

    init(client: RedisClient, settings: DeadLetterSettings, streams: StreamSettings, group: GroupRunSettings) {
        var writing = RedisDeadLetterWriter.Settings(group: group.group.name)
        writing.topicPrefix = settings.topicPrefix
        writing.bodyField = streams.bodyField
        writing.maxLength = settings.maxLength
        writing.maxAgeMilliseconds = settings.maxAgeMilliseconds
        writer = RedisDeadLetterWriter(client: client, settings: writing)
        topics = streams.topics
        partitions = Int32(group.member.partitions)
    }

    func place(of letter: DeadLetter) -> String { writer.stream(of: letter) }

    func write(_ letters: [DeadLetter], to place: String, done: @escaping (DeadLetterOutcome) -> Void) {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        writer.write(letters, to: place, nowMilliseconds: Int64(now.tv_sec) * 1000) { result in
            switch result {
            case .success(let receipt): done(.written(trimmed: receipt.trimmed))
            case .failure(let fault): done(.failed(fault))
            }
        }
    }

    func check(done: @escaping (RedisDeadLetterWriter.Check) -> Void) {
        writer.check(topics, partitions: partitions, done: done)
    }
}
