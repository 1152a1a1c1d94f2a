import Configuration
import KafkaClient
import Streams

extension KafkaSourceSettings {
    /// The topics of `source.kafka`; nil where none are configured.
    ///
    /// - Throws: a password file that cannot be used, or a property that an option or a promise stands for.
    public init?(_ configuration: Configuration) throws {
        guard let kafka = try KafkaSettings(configuration) else { return nil }
        var feed = KafkaFeedSettings(topics: configuration[Options.kafka.topics], apps: configuration.apps)
        feed.start = KafkaPosition(offsetResetOf: configuration)
        self.init(
            kafka: kafka, group: KafkaGroup(configuration),
            // How many partitions there are the cluster tells.
            reading: KafkaReading(configuration, partitions: feed.topics.count), feed: feed)
    }
}
