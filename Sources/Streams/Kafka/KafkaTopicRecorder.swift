import KafkaClient
import Sockets
import Telemetry

/// Reads the partitions of a topic, without a group and without leaving a trace, and writes a recording of them in the order of their times.
///
/// A record is written once it is the oldest of those that are next in each partition; what has been read to its end does not hold up the
/// others. The order of a partition is never changed: a record counts as no older than the one before it. Belongs to the loop's thread.
public final class KafkaTopicRecorder: TopicRecorder {
    public struct Settings: Sendable {
        public var topic: String
        public var partitions: Int32
        /// Else only what comes after the recorder has begun.
        public var isFromBeginning = false
        /// nil takes all there is.
        public var mostRecords: Int?
        /// After this long without a broker it gives up.
        public var patienceMilliseconds: Int64 = 60_000

        public init(topic: String, partitions: Int32) {
            self.topic = topic
            self.partitions = partitions
        }

        var mostRecordsOrAll: Int { mostRecords ?? .max }
    }

    /// One partition: what was read of it and is not written yet.
    private final class Lane {
        let reader: KafkaPartitionReader
        let batch = KafkaBatch(capacity: KafkaTopicRecorder.recordsARead)
        var place = 0
        /// Of the next record.
        var timeMilliseconds = Int64.min
        /// Something was read, or the end was reached.
        var hasBegun = false

        init(_ reader: KafkaPartitionReader) { self.reader = reader }

        var isEmpty: Bool { place == batch.count }
        var isAtEnd: Bool { reader.endOffset != nil }
    }

    private static let recordsARead = 512
    /// Between two turns of the loop.
    private static let recordsATurn = 16_384

    private let reader: KafkaReader
    private let settings: Settings
    private let writer: RecordingWriter
    private var lanes: [Lane] = []
    private var wellMilliseconds = EventLoop.currentMilliseconds()

    /// Records without a value.
    public private(set) var withoutBody = 0
    public private(set) var newestMilliseconds = EventLoop.currentMilliseconds()
    public private(set) var hasBegun = false
    public private(set) var isBusy = false
    public private(set) var fault: KafkaFault?
    public private(set) var writeFault: SourceFault?

    /// - Parameter reader: of nothing yet, and used by nobody else.
    /// - Throws: what is refused at once.
    public init(reader: KafkaReader, settings: Settings, writer: RecordingWriter) throws(KafkaFault) {
        self.reader = reader
        self.settings = settings
        self.writer = writer
        for partition in 0..<settings.partitions {
            lanes.append(
                Lane(
                    try reader.open(
                        KafkaTopicPartition(settings.topic, partition), at: settings.isFromBeginning ? .beginning : .end
                    )))
        }
        reader.onEvent = { [unowned self] in heard($0) }
    }

    public var records: Int { writer.records }
    public var isDone: Bool { fault != nil || writeFault != nil || records >= settings.mostRecordsOrAll }
    public var failure: (any Error)? { fault }

    public func advance() {
        guard !isDone else { return }
        for lane in lanes where lane.isEmpty { refill(lane) }
        if !hasBegun, lanes.allSatisfy(\.hasBegun) {
            hasBegun = true
            newestMilliseconds = EventLoop.currentMilliseconds()
        }
        isBusy = write(atMost: Self.recordsATurn, isWaiting: true)
        watch()
    }

    public func finish() throws(SourceFault) {
        write(atMost: .max, isWaiting: false)
        for lane in lanes { lane.batch.giveBack() }
        if let writeFault { throw writeFault }
        try writer.finish()
    }

    // MARK: Reading

    private func refill(_ lane: Lane) {
        lane.batch.giveBack()
        lane.place = 0
        repeat {
            guard lane.reader.read(into: lane.batch) == 0 else {
                newestMilliseconds = EventLoop.currentMilliseconds()
                lane.hasBegun = true
                noteTime(lane)
                return
            }
        } while lane.reader.hasRecords
        lane.hasBegun = lane.hasBegun || lane.isAtEnd
    }

    private func noteTime(_ lane: Lane) {
        guard !lane.isEmpty else { return }
        lane.timeMilliseconds = max(lane.timeMilliseconds, lane.batch[lane.place].timestampMilliseconds ?? 0)
    }

    private func heard(_ event: KafkaReaderEvent) {
        switch event {
        case .reachedEnd: break
        case .stopped(_, let why): fault = fault ?? why
        case .fault(let why): if why.isFatal { fault = fault ?? why }
        }
    }

    private func watch() {
        guard case .failing(let why) = reader.status else {
            wellMilliseconds = EventLoop.currentMilliseconds()
            return
        }
        if EventLoop.currentMilliseconds() - wellMilliseconds > settings.patienceMilliseconds { fault = fault ?? why }
    }

    // MARK: Writing

    /// - Parameter isWaiting: whether a partition of which nobody knows what comes next holds up the others.
    /// - Returns: whether there is more that can be written.
    @discardableResult
    private func write(atMost most: Int, isWaiting: Bool) -> Bool {
        let end = records < Int.max - most ? records + most : Int.max
        while records < min(end, settings.mostRecordsOrAll), writeFault == nil {
            guard let (lane, until) = oldest(isWaiting: isWaiting) else { return false }
            repeat {
                write(lane)
            } while !lane.isEmpty && lane.timeMilliseconds <= until && records < min(end, settings.mostRecordsOrAll)
                && writeFault == nil
            if lane.isEmpty { refill(lane) }
        }
        return !isDone
    }

    /// The partition with the oldest record, and how far it may go before another's turn comes; nil where nothing can be written.
    private func oldest(isWaiting: Bool) -> (Lane, untilMilliseconds: Int64)? {
        var oldest: Lane?
        var until = Int64.max
        for lane in lanes {
            guard !lane.isEmpty else {
                if isWaiting, !lane.isAtEnd { return nil }
                continue
            }
            if let first = oldest, first.timeMilliseconds <= lane.timeMilliseconds {
                until = min(until, lane.timeMilliseconds)
            } else {
                until = min(until, oldest?.timeMilliseconds ?? .max)
                oldest = lane
            }
        }
        return oldest.map { ($0, until) }
    }

    private func write(_ lane: Lane) {
        let record = lane.batch[lane.place]
        let time = lane.timeMilliseconds
        if record.isTombstone {
            withoutBody += 1
        } else {
            do throws(SourceFault) {
                try writer.write { output in
                    Self.withEvent(of: record.value) { event in
                        output.append(
                            recorded: event, key: record.key.baseAddress == nil ? nil : record.key,
                            partition: lane.reader.partition.partition, offset: record.offset,
                            receivedAtMilliseconds: time)
                    }
                }
            } catch {
                writeFault = error
            }
        }
        lane.place += 1
        noteTime(lane)
    }

    /// Without the frame that a schema registry's serializer puts around JSON: a line of text could not hold it.
    private static func withEvent(of value: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        guard value.first ?? 0x20 < 0x20, let envelope = try? EventEnvelope(value, headers: .none) else {
            return body(value)
        }
        switch envelope.event {
        case .lent(let event): body(event)
        case .decoded(let event): event.withUnsafeBytes(body)
        }
    }
}
