import Flow
import Instruments
import KafkaClient
import Pacing
import Sockets
import Streams

/// What of Kafka a member reads, and as whom.
public struct KafkaSourceSettings: Sendable {
    public var kafka: KafkaSettings
    public var group: KafkaGroup
    public var reading: KafkaReading
    public var feed: KafkaFeedSettings

    public init(kafka: KafkaSettings, group: KafkaGroup, reading: KafkaReading, feed: KafkaFeedSettings) {
        (self.kafka, self.group, self.reading, self.feed) = (kafka, group, reading, feed)
    }

    /// For people.
    public var place: String { kafka.bootstrapServers.joined(separator: ", ") }
}

/// Topics of Kafka. The group's coordinator says which partitions are to be this member's; its store, who owns them: a partition that comes is
/// claimed there, one that is wanted back is drained, saved and given back there before Kafka hears that it is free.
///
/// A partition here is those of its number of all topics, and is to be owned once all of them have come.
final class KafkaSource: MemberSource {
    let settings: KafkaSourceSettings
    let partitions: Int
    let loop: EventLoop
    let instruments: KafkaInstruments
    let log: Log
    private let reader: KafkaReader
    private let placement: PlacementWatch
    private let conflicts: Counter<NoLabel>
    private let gauges: KafkaGauges
    private let leaders = LeaderWatch()
    private var coordinatorSilenceMilliseconds: Int64 = 0
    private var toldConflicts = 0
    /// Nil before the group is joined.
    private var group: KafkaMember?
    /// What the group has told, and was not looked at yet.
    private var events: [KafkaMemberEvent] = []
    private var given: Set<KafkaTopicPartition> = []
    /// What the group wants back, by partition; it waits for that.
    private var wantedBack: [Int32: [KafkaTopicPartition]] = [:]
    /// Where partitions were settled when they were handed over, by source.
    private var handedOver: [Int32: [SettledPosition?]] = [:]
    /// By partition and source, the offset that was stored to be committed.
    private var stored: [[Int64?]]
    private var committed: [KafkaTopicPartition: Int64] = [:]
    private var nextStoreMilliseconds = Int64.min
    private var isStopping = false
    private(set) var isStopped = false
    private(set) var ending: RunEnding?
    /// Partitions that came beyond those that the group was made with.
    private var surplus: Set<Int32> = []
    private var groupFault: KafkaFault?

    private static let storeMilliseconds: Int64 = 200

    /// - Throws: a setting that librdkafka does not take.
    init(
        settings: KafkaSourceSettings, partitions: Int, loop: EventLoop, registry: Registry, log: Log
    ) throws(KafkaFault) {
        (self.settings, self.partitions, self.loop, self.log) = (settings, partitions, loop, log)
        FetchMemory.keep(budgetMiB: settings.reading.prefetchMiB)
        instruments = KafkaInstruments(registry: registry)
        stored = Array(repeating: Array(repeating: nil, count: settings.feed.topics.count), count: partitions)
        placement = PlacementWatch(topics: settings.feed.topics, partitions: partitions)
        conflicts = registry.counter(
            "waypulse_key_conflicts_total",
            help:
                "Records looked at (one of each read) that lie in another partition than other producers of the topic would have put them in, or have no key."
        )
        gauges = KafkaGauges(registry: registry)
        reader = try KafkaReader(
            settings: settings.kafka, reading: settings.reading, loop: loop, instruments: instruments, log: log)
        reader.onStatistics = { [gauges, leaders] in
            gauges.publish(ofReader: $0)
            leaders.note($0, nowMilliseconds: EventLoop.currentMilliseconds())
        }
        placement.onFinding = { [log] in KafkaSource.tell($0, log) }
        // So that it knows their leaders when the first partition comes: librdkafka takes a second to ask by itself.
        reader.partitionCounts(of: settings.feed.topics) { _ in }
    }

    var names: SourceNames { .topics(settings.feed.topics) }

    var hindrance: String? {
        guard let group else { return groupFault?.description }
        if case .failing(let fault) = group.status { return fault.description }
        if let groupFault { return groupFault.description }
        if !surplus.isEmpty { return surplusText }
        if coordinatorSilenceMilliseconds > Int64(settings.group.sessionTimeoutMilliseconds) * 2 / 3 {
            return
                "nothing has come from the coordinator of the group \(settings.group.id) for \(coordinatorSilenceMilliseconds / 1000) s, and it takes "
                + "this member for dead after \(settings.group.sessionTimeoutMilliseconds / 1000) s: see whether that broker can be reached"
        }
        return group.hasJoined ? nil : "joining the group \(settings.group.id) of Kafka at \(settings.place)"
    }

    func open(_ partition: Int32, epoch: Epoch, after: [SettledPosition?], mark: WorkMark?) -> any PartitionFeed {
        guard let group else { preconditionFailure("partition \(partition) is owned before the group is joined") }
        return KafkaFeed(
            partition: partition, epoch: epoch, member: group, reader: reader, settings: settings.feed, after: after,
            placement: placement, leaders: leaders, mark: mark)
    }

    // MARK: The group

    func advance(_ member: Member, at moment: Moment) {
        join()
        if !events.isEmpty {
            let told = events
            events.removeAll(keepingCapacity: true)
            for event in told { hear(event, member, moment) }
        }
        if !wantedBack.isEmpty { letGo(member) }
        if moment.realMilliseconds >= nextStoreMilliseconds {
            nextStoreMilliseconds = moment.realMilliseconds + Self.storeMilliseconds
            for partition in member.ownedPartitions { store(partition, member) }
            conflicts.add(Int64(placement.conflicts - toldConflicts))
            toldConflicts = placement.conflicts
        }
    }

    private func join() {
        guard group == nil, !isStopping, ending == nil else { return }
        do throws(KafkaFault) {
            let group = try KafkaMember(
                settings: settings.kafka, group: settings.group, loop: loop, instruments: instruments, log: log)
            group.onEvent = { [weak self] in self?.events.append($0) }
            group.onStatistics = { [weak self, gauges] statistics in
                gauges.publish(ofMember: statistics)
                self?.coordinatorSilenceMilliseconds = statistics.coordinatorSilenceMilliseconds ?? 0
                self?.committed = [:]
                for known in statistics.partitions {
                    if let offset = known.committedOffset { self?.committed[known.partition] = offset }
                }
            }
            self.group = group
        } catch {
            fail(error)
        }
    }

    private func hear(_ event: KafkaMemberEvent, _ member: Member, _ moment: Moment) {
        switch event {
        case .assigned(let partitions):
            groupFault = nil
            given.formUnion(partitions)
            for number in Set(partitions.map(\.partition)).sorted() { assign(number, member) }
        case .revoked(let partitions):
            given.subtract(partitions)
            surplus.subtract(partitions.map(\.partition))
            for partition in partitions { wantedBack[partition.partition, default: []].append(partition) }
            for number in Set(partitions.map(\.partition)) where isOurs(number) { member.revoke(number, at: moment) }
        case .lost(let partitions):
            given.subtract(partitions)
            surplus.subtract(partitions.map(\.partition))
            log.warning(
                "the group has given partitions to others, or may have", .field("partitions", partitions.count),
                .hint("see whether the brokers were out of reach, or this process did not get to run"))
            for number in Set(partitions.map(\.partition)) {
                wantedBack[number] = nil
                if isOurs(number) { member.lose(number, at: moment) }
            }
        case .released(_, let fault):
            guard let fault else { return }
            // The store has the position; whoever comes next goes on from there.
            log.warning("the offsets of partitions that were let go are not committed", .hint(fault.description))
        case .committedAgain(let fault): if groupFault == fault { groupFault = nil }
        case .fault(let fault): fault.isFatal || fault.kind == .fenced ? fail(fault) : note(fault)
        }
    }

    private func assign(_ number: Int32, _ member: Member) {
        guard isOurs(number) else {
            if surplus.insert(number).inserted { log.error("partitions were added", .hint(surplusText)) }
            return
        }
        let isWhole = settings.feed.topics.allSatisfy { given.contains(KafkaTopicPartition($0, number)) }
        guard isWhole else { return }
        handedOver[number] = nil
        stored[Int(number)] = Array(repeating: nil, count: settings.feed.topics.count)
        member.assign(number)
    }

    private func isOurs(_ number: Int32) -> Bool { number >= 0 && number < partitions }

    private func letGo(_ member: Member) {
        guard let group else { return }
        for (number, wanted) in wantedBack where !isOurs(number) || member.isFree(number) {
            wantedBack[number] = nil
            for partition in wanted {
                let source = settings.feed.topics.firstIndex(of: partition.topic)
                let position = source.flatMap { handedOver[number]?[$0] }
                group.release(partition, committing: position.map { $0.offset + 1 })
            }
        }
    }

    func committed(_ partition: Int32, source: Int) -> Int64? {
        committed[KafkaTopicPartition(settings.feed.topics[source], partition)]
    }

    func hear(released partition: Int32, positions: [SettledPosition?]) { handedOver[partition] = positions }

    /// What the store has called saved, and nothing else: so what is committed is never ahead of it.
    private func store(_ partition: Int32, _ member: Member) {
        for (source, topic) in settings.feed.topics.enumerated() {
            guard let settled = member.progress(partition: partition, source: source).settled,
                stored[Int(partition)][source] != settled.offset + 1
            else { continue }
            stored[Int(partition)][source] = settled.offset + 1
            group?.store(settled.offset + 1, of: KafkaTopicPartition(topic, partition))
        }
    }

    // MARK: What goes wrong

    private func note(_ fault: KafkaFault) {
        guard fault != groupFault else { return }
        groupFault = fault
        log.error("the group of Kafka reports a fault", .hint(fault.description))
    }

    /// This process can be no member any more.
    private func fail(_ fault: KafkaFault) {
        groupFault = fault
        ending = ending ?? .expelled(reason: fault.description)
        log.error("this process can be no member of the group any more", .hint(fault.description))
    }

    private static func tell(_ finding: PlacementWatch.Finding, _ log: Log) {
        func words(_ evidence: PlacementWatch.Evidence, _ topic: String) -> String {
            "\(topic)[\(evidence.partition)] offset \(evidence.offset) by \(evidence.hash.rawValue)"
        }
        switch finding {
        case .mixed(let topic, let first, let other):
            log.error(
                "producers of a topic place keys in different ways, so that one activity may have two owners",
                .field("topic", topic), .field("one", words(first, topic)), .field("other", words(other, topic)),
                .hint(
                    "give all the same: partitioner=murmur2_random for librdkafka (its default is CRC32), or a CRC32 partitioner for Java (its default is murmur2)"
                ))
        case .keyless(let topic, let partition, let offset):
            log.error(
                "a record has no key, and nothing keeps the events of its activity in one partition",
                .field("topic", topic), .field("partition", Int(partition)), .field("offset", "\(offset)"),
                .hint(
                    "publish each event with the key of its activity: its subjectId where it follows one, else its activityId"
                ))
        }
    }

    private var surplusText: String {
        "the topics have more than the \(partitions) partitions that the group \(settings.group.id) was made with, and the new ones are not read: "
            + "keys lie in other partitions than before. Make new topics with as many partitions as are needed, or stop all members and "
            + "start them with another source.kafka.group"
    }

    // MARK: The end

    func stop(withinMilliseconds: Int64) {
        isStopping = true
        guard let group else {
            isStopped = true
            return
        }
        group.close(withinMilliseconds: withinMilliseconds) { [weak self] fault in
            guard let self else { return }
            isStopped = true
            if let fault { log.warning("the group was not left as it should be", .hint(fault.description)) }
        }
    }

    func close() { reader.close() }
}
