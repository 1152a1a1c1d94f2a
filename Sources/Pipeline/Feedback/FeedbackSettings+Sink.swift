import Instruments
import KafkaClient
import RedisClient
import Sockets
import Streams

/// Makes a sink on the thread that will use it.
typealias FeedbackSinkMaker = @Sendable (EventLoop) -> any FeedbackSink

extension FeedbackSettings {
    /// Of a run that reads recordings; nil where nothing is to be told.
    ///
    /// - Throws: a file that cannot be written.
    func sink() throws(SettingFault) -> FeedbackSinkMaker? {
        guard case .file(let path) = place else { return nil }
        return try Self.file(path)
    }

    /// The same of a member.
    func sink(
        group: GroupRunSettings, redis: RedisInstruments, kafka: KafkaInstruments?, log: Log
    ) throws(SettingFault) -> FeedbackSinkMaker? {
        let (topic, maxLength, partitions) = (topic, maxLength, Int32(group.member.partitions))
        switch (place, group.source) {
        case (.off, _): return nil
        case (.file(let path), _): return try Self.file(path)
        case (.streams, _):
            var settings = group.redis
            settings.clientName = settings.clientName.map { $0 + "-feedback" }
            return { [settings] loop in
                let client = RedisClient(settings: settings, loop: loop, instruments: redis, log: log)
                return RedisFeedbackWriter(
                    client: client, topic: topic, partitions: partitions, maxLength: maxLength)
            }
        case (.topics, .kafka(let source)):
            guard let kafka else { return nil }
            return { loop in
                KafkaFeedbackWriter(kafka: source.kafka, topic: topic, loop: loop, instruments: kafka, log: log)
            }
        case (.topics, .streams): return nil
        }
    }

    private static func file(_ path: String) throws(SettingFault) -> FeedbackSinkMaker {
        do throws(SourceFault) {
            // Opened here, so that a wrong path ends the start; from then on the thread of the loop alone touches it.
            nonisolated(unsafe) let file = try FeedbackFile(path: path)
            return { _ in file }
        } catch {
            throw SettingFault(key: "feedback.file", problem: "\(error.source) \(error.problem)", remedy: error.remedy)
        }
    }
}
