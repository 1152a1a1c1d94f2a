import CRdkafka
import Instruments
import Sockets

/// What becomes of a member's partitions.
public enum KafkaMemberEvent: Equatable, Sendable {
    /// The group gave these. They may be read from now on.
    case assigned([KafkaTopicPartition])
    /// The group wants these back, and waits. Nothing more may be read of them; each is to be `release`d when what was read is settled.
    /// All others are as before.
    case revoked([KafkaTopicPartition])
    /// Somebody else may have these already: nothing may be sent or written of them any more, and there is nothing to release.
    case lost([KafkaTopicPartition])
    /// All of a revocation are let go, with the offsets committed that were given; with a fault that commit did not succeed.
    case released([KafkaTopicPartition], KafkaFault?)
    /// Something of the group or a topic; where it `isFatal`, this member has come to its end. Nothing changes else.
    case fault(KafkaFault)
}

/// A member of a consumer group: is given partitions, gives them back, and commits offsets. It reads nothing; that does a `KafkaReader`.
///
/// Belongs to the loop's thread, and stays a member as long as that turns. What was `store`d is committed each `commitIntervalMilliseconds`,
/// and once more when a partition is released. A partition that is assigned counts as owned until it is released or lost.
public final class KafkaMember: KafkaConnection {
    public let group: KafkaGroup
    /// Called from the loop. To be set at once.
    public var onEvent: ((KafkaMemberEvent) -> Void)?
    /// What the group has given and not taken away; those of a revocation stay until it is over.
    public private(set) var owned: Set<KafkaTopicPartition> = []
    /// Whether the group has told what of it is this member's, be it nothing, and has not taken it for dead since.
    public private(set) var hasJoined = false
    /// What the group wants back and waits for.
    var revocation: Revocation?
    var commitDeadline: LoopTimer!
    private var servedMilliseconds = EventLoop.currentMilliseconds()
    private var departure: Departure?
    private var departureDeadline: LoopTimer!

    private struct Departure {
        /// Where librdkafka tells of it.
        let queue: OpaquePointer
        let completion: (KafkaFault?) -> Void
    }

    /// - Throws: a setting that librdkafka does not take.
    public init(
        settings: KafkaSettings, group: KafkaGroup, loop: EventLoop, instruments: KafkaInstruments, log: Log
    ) throws(KafkaFault) {
        self.group = group
        try super.init(
            RD_KAFKA_CONSUMER, settings.forMembership(group),
            events: RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_OFFSET_COMMIT, settings: settings, loop: loop,
            instruments: instruments, log: log, queue: consumerQueue)
        mayBeFreed = group.assignment != .cooperativeSticky
        commitDeadline = loop.timer { [weak self] in self?.commitIsLate() }
        departureDeadline = loop.timer { [weak self] in self?.departureIsLate() }
        let topics = PartitionList(group.topics.map { KafkaTopicPartition($0, RD_KAFKA_PARTITION_UA) })
        let code = rd_kafka_subscribe(client.pointer, topics.pointer)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw .of(code, "joining group \(group.id) for \(group.topics.joined(separator: ", "))")
        }
    }

    // MARK: Offsets

    /// Everything below this offset is settled: what is committed next. Of a partition that is not owned, nothing.
    public func store(_ offset: Int64, of partition: KafkaTopicPartition) {
        guard owned.contains(partition) else { return }
        let list = PartitionList(capacity: 1)
        list.append(partition, offset: offset)
        _ = rd_kafka_offsets_store(client.pointer, list.pointer)
    }

    /// What the group has committed: the next offset to read; nil where it has nothing.
    public func committed(
        of partitions: [KafkaTopicPartition], _ completion: @escaping (Result<[Int64?], KafkaFault>) -> Void
    ) {
        committedOffsets(of: partitions, completion)
    }

    // MARK: Events

    override func handle(_ event: OpaquePointer) {
        switch rd_kafka_event_type(event) {
        case RD_KAFKA_EVENT_REBALANCE: rebalance(event)
        case RD_KAFKA_EVENT_OFFSET_COMMIT: committed(event)
        default: break
        }
    }

    override func handle(_ fault: KafkaFault, _ code: rd_kafka_resp_err_t, _ partition: KafkaTopicPartition?) {
        instruments.faults.add(1, .group)
        if code == RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED || fault.kind == .fenced { giveUp() }
        tell(.fault(fault))
    }

    override func serving() {
        let now = EventLoop.currentMilliseconds()
        defer { servedMilliseconds = now }
        if now - servedMilliseconds > Int64(group.pollIntervalMaxMilliseconds) { giveUp() }
    }

    override func served() {
        noteLoss()
        if departure != nil, rd_kafka_consumer_closed(client.pointer) != 0 { depart(nil) }
    }

    /// The group has spoken. Before that, librdkafka up to 2.2 aborts the process where a member of a cooperative-sticky group is freed: it takes
    /// for granted what the first assignment makes (confluentinc/librdkafka#4312).
    func noteJoined() {
        hasJoined = true
        mayBeFreed = true
    }

    func tell(_ event: KafkaMemberEvent) {
        switch event {
        case .assigned(let partitions): owned.formUnion(partitions)
        case .lost(let partitions):
            owned.subtract(partitions)
            hasJoined = false
        case .released(let partitions, _): owned.subtract(partitions)
        case .revoked, .fault: break
        }
        onEvent?(event)
    }

    // MARK: The end

    /// Leaves the group, which first asks everything back: `revoked` comes, and each partition is to be released. Then all connections end. A static
    /// member does not leave: its partitions wait for it as long as its session.
    ///
    /// - Parameters:
    ///   - withinMilliseconds: after that the group is left by silence: it will take this member for dead.
    ///   - completion: when nothing is left; with a fault if the group was not left as it should be.
    public func close(withinMilliseconds: Int64, _ completion: @escaping (KafkaFault?) -> Void = { _ in }) {
        guard !isClosed, departure == nil, let queue = rd_kafka_queue_new(client.pointer) else { return }
        keepUntilClosed()
        departure = Departure(queue: queue, completion: completion)
        wakes(on: queue)
        departureDeadline.schedule(atMilliseconds: EventLoop.currentMilliseconds() + withinMilliseconds)
        if let error = rd_kafka_consumer_close_queue(client.pointer, queue) {
            depart(.taking(error, "leaving group \(group.id)"))
        }
    }

    private func departureIsLate() {
        depart(
            KafkaFault(
                .timeout, "group \(group.id) was not left in time",
                remedy: "it takes this member for dead after sessionTimeout; see whether its brokers can be reached"))
    }

    private func depart(_ fault: KafkaFault?) {
        guard let completion = departure?.completion else { return }
        tearDown { completion(fault) }
    }

    deinit { letGo() }

    override func letGo() {
        commitDeadline?.cancel()
        departureDeadline?.cancel()
        if let departure {
            rd_kafka_queue_io_event_enable(departure.queue, -1, nil, 0)
            rd_kafka_queue_destroy(departure.queue)
        }
        departure = nil
    }
}
