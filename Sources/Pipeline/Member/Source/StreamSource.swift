import Flow
import Pacing
import RedisClient
import Streams

/// Streams of the Redis that is also the store. Members spread them among themselves.
final class StreamSource: MemberSource {
    private let client: RedisClient
    private let settings: StreamSettings

    init(client: RedisClient, settings: StreamSettings) {
        (self.client, self.settings) = (client, settings)
    }

    var names: SourceNames { .streams(settings.topics) }
    var hindrance: String? { nil }
    var ending: RunEnding? { nil }
    var isStopped: Bool { true }

    func advance(_ member: Member, at moment: Moment) {}

    func open(_ partition: Int32, epoch: Epoch, after: [SettledPosition?], mark: WorkMark?) -> any PartitionFeed {
        StreamFeed(
            partition: partition, epoch: epoch, client: client, settings: settings, after: after, mark: mark)
    }

    func committed(_ partition: Int32, source: Int) -> Int64? { nil }
    func hear(released partition: Int32, positions: [SettledPosition?]) {}
    func stop(withinMilliseconds: Int64) {}
    func close() {}
}
