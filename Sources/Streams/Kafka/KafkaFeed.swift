import Flow
import Glibc
import KafkaClient
import Pacing
import Telemetry

/// What of Kafka is read, and how.
public struct KafkaFeedSettings: Sendable {
    public var topics: [String]
    public var apps: [String]
    /// Where reading begins if neither the store nor the group has a position.
    public var start = KafkaPosition.beginning

    public init(topics: [String], apps: [String]) {
        self.topics = topics
        self.apps = apps
    }
}

/// Reads one partition: that of its number of each topic, record by record out of librdkafka's queues, without a copy.
///
/// Reading goes on where the store says; where it says nothing, where the group's committed offset is; else as `start` says. An offset that the
/// topic does not have any more, or not yet, is a gap that is told (`trimmed`, `rewound`) and counted, never an end.
///
/// Belongs to the thread of its client's loop.
public final class KafkaFeed: PartitionFeed {
    public let partition: Int32
    public let epoch: Epoch
    private let settings: KafkaFeedSettings
    private let member: KafkaMember
    private let reader: KafkaReader
    private let placement: PlacementWatch?
    private let leaders: LeaderWatch?
    // Touched with every record, and by this alone.
    @exclusivity(unchecked) private var intake: RecordIntake
    private var batches = BatchQueue()
    /// By source.
    private var topics: [KafkaTopicFeed]
    /// The topic whose turn comes next.
    private var turn = 0
    private var isAsking = false
    private var isClosed = false
    private var lookUpFault: SourceFault?
    private var retryAtMilliseconds = Int64.min
    /// When there was a connection, as far as `lag` knows.
    private var heardMilliseconds: Int64?

    static let recordsARead = 512
    private static let retryMilliseconds: Int64 = 1_000
    /// So long what brokers said last stands for what is.
    private static let freshMilliseconds: Int64 = 3_000

    /// - Parameters:
    ///   - member: of the group; is asked what that has committed.
    ///   - after: by source, where its owner says that reading goes on; nil where the store has nothing.
    ///   - placement: is shown one record of each read.
    ///   - leaders: knows whose leader is away.
    ///   - mark: is told which record is in work.
    public init(
        partition: Int32, epoch: Epoch, member: KafkaMember, reader: KafkaReader, settings: KafkaFeedSettings,
        after: [SettledPosition?], placement: PlacementWatch? = nil, leaders: LeaderWatch? = nil,
        mark: WorkMark? = nil
    ) {
        (self.partition, self.epoch) = (partition, epoch)
        (self.placement, self.leaders) = (placement, leaders)
        (self.member, self.reader, self.settings) = (member, reader, settings)
        intake = RecordIntake(apps: settings.apps, partition: partition, mark: mark)
        topics = zip(settings.topics.indices, after).map { source, position in
            KafkaTopicFeed(source, KafkaTopicPartition(settings.topics[source], partition), after: position)
        }
    }

    var batchesAhead: Int { batches.all.count }
    public var first: EventBatch? { batches.first }
    public var unprepared: EventBatch? { batches.unprepared }
    public func finishFirst() { batches.finishFirst() }

    public var poison: [Set<Int64>] {
        get { intake.poison }
        set { intake.poison = newValue }
    }

    public func close() -> [UInt64] {
        isClosed = true
        for topic in topics { reader.close(topic.partition) }
        return batches.tickets
    }

    public var fault: SourceFault? {
        if let lookUpFault { return lookUpFault }
        if case .failing(let fault) = reader.status {
            // Not by its partition: all have the same, and it is told once.
            return SourceFault(
                source: "topics \(settings.topics.joined(separator: ", "))", problem: fault.problem,
                remedy: fault.remedy)
        }
        return topics.lazy.compactMap { [leaders] topic in
            (topic.fault ?? leaders?.fault(of: topic.partition)).map {
                SourceFault(source: topic.partition.description, problem: $0.problem, remedy: $0.remedy)
            }
        }.first
    }

    // MARK: Reading

    public func read(nowMilliseconds now: Int64, wallMilliseconds: Int64) {
        guard !isClosed else { return }
        if now >= retryAtMilliseconds, !isAsking { setOut(now) }
        for step in topics.indices where batches.hasRoom {
            let place = (turn + step) % topics.count
            guard let messages = topics[place].reader, messages.hasRecords || messages.fault != nil else { continue }
            read(place, messages, now)
            turn = (place + 1) % topics.count
        }
    }

    private func read(_ place: Int, _ messages: KafkaPartitionReader, _ now: Int64) {
        let batch = batches.take()
        let lent = batch.messages ?? KafkaBatch(capacity: Self.recordsARead)
        batch.messages = lent
        let count = messages.read(into: lent)
        if count > 0 {
            placement?.look(at: lent[0], source: place, partition: partition)
            batch.notices = topics[place].begun(
                before: lent[0].offset, newest: newest(messages, lent[count - 1].offset))
            for number in 0..<count {
                let message = lent[number]
                intake.take(
                    message.isTombstone ? nil : message.value, headers: { EventHeaders(message) }, source: place,
                    offset: message.offset, into: batch, missing: Self.noValue)
            }
            intake.finish()
            topics[place].noteRead(lent, now)
            batches.stage(batch)
        } else {
            batches.putBack(batch)
        }
        if let end = messages.endOffset { batches.stage(topics[place].ended(at: end)) }
        if let fault = messages.fault { stopped(place, fault, now) }
    }

    /// The broker's word from its last answer; what came with it is not past it.
    private func newest(_ messages: KafkaPartitionReader, _ last: Int64) -> Int64 {
        max((messages.watermarks?.high ?? 0) - 1, last)
    }

    private static var noValue: EventFault {
        EventFault(
            .notJSON,
            "The record has no value (a tombstone): an event is one JSON object. A topic of events is not compacted, and nothing in it is deleted by key."
        )
    }

    // MARK: Where it begins

    /// Opens what is not open and whose place is known, and asks for the places that are not.
    private func setOut(_ now: Int64) {
        for place in topics.indices where topics[place].reader == nil { open(place, now) }
        let unknown = topics.indices.filter { topics[$0].position == nil }
        guard !unknown.isEmpty else { return }
        isAsking = true
        member.committed(of: unknown.map { topics[$0].partition }) { [weak self] answer in
            guard let self, !isClosed else { return }
            isAsking = false
            switch answer {
            case .success(let offsets):
                lookUpFault = nil
                for (place, offset) in zip(unknown, offsets) {
                    topics[place].begin(at: offset, else: settings.start)
                    open(place, now)
                }
            case .failure(let fault): failed(fault, now)
            }
        }
    }

    private func open(_ place: Int, _ now: Int64) {
        guard let position = topics[place].position else { return }
        do throws(KafkaFault) {
            topics[place].opened(try reader.open(topics[place].partition, at: position))
            // Of a place that was looked up in vain there is nothing to open.
            if topics.allSatisfy({ $0.position != nil }) { lookUpFault = nil }
        } catch {
            failed(error, now)
        }
    }

    private func failed(_ fault: KafkaFault, _ now: Int64) {
        lookUpFault = SourceFault(
            source: "partition \(partition) of \(settings.topics.joined(separator: ", "))", problem: fault.problem,
            remedy: fault.remedy)
        retryAtMilliseconds = now + Self.retryMilliseconds
    }

    // MARK: What goes wrong

    /// Nothing more comes of it until it is opened again.
    private func stopped(_ place: Int, _ fault: KafkaFault, _ now: Int64) {
        let topic = topics[place].partition
        reader.close(topic)
        topics[place].stopped(fault)
        retryAtMilliseconds = now + Self.retryMilliseconds
        guard fault.kind == .outOfRange else { return }
        isAsking = true
        reader.watermarks(of: [topic]) { [weak self] answer in
            guard let self, !isClosed else { return }
            switch answer[0] {
            case .success(let watermarks): foundRange(place, watermarks, now)
            case .failure(let fault):
                isAsking = false
                failed(fault, now)
            }
        }
    }

    private func foundRange(_ place: Int, _ range: KafkaWatermarks, _ now: Int64) {
        guard let since = topics[place].lastTimestampMilliseconds, (topics[place].next ?? 0) > range.high else {
            return goOn(place, range, at: nil, now)
        }
        // Whatever was written since the last record that was read: cut short, the log goes on there; made anew, all of it is newer.
        reader.offsets(at: since - Self.clockDifferenceMilliseconds, of: [topics[place].partition]) {
            [weak self] answer in
            guard let self, !isClosed else { return }
            if case .success(let offsets) = answer {
                goOn(place, range, at: offsets[0] ?? range.high, now)
            } else {
                goOn(place, range, at: nil, now)
            }
        }
    }

    /// Between the clocks of producers or brokers.
    private static let clockDifferenceMilliseconds: Int64 = 10_000

    private func goOn(_ place: Int, _ range: KafkaWatermarks, at offset: Int64?, _ now: Int64) {
        isAsking = false
        batches.stage(topics[place].moved(into: range, at: offset))
        open(place, now)
    }

    // MARK: How far

    public func lags(nowMilliseconds now: Int64, wallMilliseconds: Int64) -> [SourceLag] {
        if case .connected = reader.status { heardMilliseconds = now }
        let silence = now - (heardMilliseconds ?? now)
        return topics.indices.map { place in
            var lag = topics[place].lag(
                unapplied: firstUnapplied(place), nowMilliseconds: now, wallMilliseconds: wallMilliseconds)
            let unheard = max(silence, leaders?.awayMilliseconds(topics[place].partition, now) ?? 0)
            if unheard > Self.freshMilliseconds { lag.milliseconds += unheard }
            return lag
        }
    }

    private func firstUnapplied(_ source: Int) -> KafkaRecord? {
        for batch in batches.all where batch.applied < batch.records.count && batch.records[0].source == source {
            return batch.messages?[batch.applied]
        }
        return nil
    }
}

extension EventHeaders {
    fileprivate init(_ message: KafkaRecord) {
        self = .none
        message.forEachHeader { name, value in
            take(UnsafeRawBufferPointer(start: name, count: strlen(name)), value)
        }
    }
}
