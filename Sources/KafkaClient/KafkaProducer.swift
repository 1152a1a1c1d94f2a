import CRdkafka
import Instruments
import Sockets

/// What became of a record that was sent.
public struct KafkaDelivery: Equatable, Sendable {
    /// As it was given to `produce`.
    public let tag: UInt
    public let partition: Int32
    /// Where it stands; nil for one that failed.
    public let offset: Int64?
    /// It is not there, or nobody knows: an answer may have been lost.
    public let fault: KafkaFault?
}

/// Sends records, in order within each partition, as many at a time as may wait for their acknowledgement.
///
/// Belongs to the loop's thread. librdkafka repeats what was not acknowledged, without doubling it (idempotence), until
/// `deliveryTimeoutMilliseconds` are over.
public final class KafkaProducer: KafkaConnection {
    public let producing: KafkaProducing
    /// Each record that ended, one way or the other, in the order of each partition. Called from the loop.
    public var onDelivery: ((KafkaDelivery) -> Void)?
    /// Records that were taken and have not ended.
    public private(set) var waiting = 0
    public private(set) var acknowledged = 0
    public private(set) var failed = 0
    /// Why nothing more can be sent; the last failure is told by `onDelivery` alone.
    public private(set) var fault: KafkaFault?
    private var flush: Flush?
    private var flushDeadline: LoopTimer!

    private struct Flush { let completion: (Int) -> Void }

    /// - Throws: a setting that librdkafka does not take.
    public init(
        settings: KafkaSettings, producing: KafkaProducing = KafkaProducing(), loop: EventLoop,
        instruments: KafkaInstruments, log: Log
    ) throws(KafkaFault) {
        self.producing = producing
        try super.init(
            RD_KAFKA_PRODUCER, settings.forProducing(producing), events: RD_KAFKA_EVENT_DR, settings: settings,
            loop: loop, instruments: instruments, log: log,
            queue: { rd_kafka_queue_get_main($0.pointer) })
        flushDeadline = loop.timer { [weak self] in self?.flushed() }
    }

    /// Whether another record is taken now; records end in turns of the loop.
    public var hasRoom: Bool { waiting < producing.mostWaiting && fault == nil && !isClosed }

    /// Takes a record; key, value and headers are copied.
    ///
    /// - Parameters:
    ///   - partition: nil to have librdkafka place it by its key: zlib-CRC32, or as the property `partitioner` says.
    ///   - value: nil for a tombstone.
    ///   - timestampMilliseconds: since 1970; nil for the present time.
    ///   - tag: comes back with its delivery.
    /// - Returns: false where there is no room, by count or by bytes (`queue.buffering.max.kbytes`): to be tried again after a delivery.
    /// - Throws: what keeps this record from being sent at all; it has no delivery then.
    public func produce(
        to topic: String, partition: Int32?, key: UnsafeRawBufferPointer?, value: UnsafeRawBufferPointer?,
        headers: KafkaHeaders? = nil, timestampMilliseconds: Int64? = nil, tag: UInt = 0
    ) throws(KafkaFault) -> Bool {
        guard hasRoom else { return false }
        let copies = headers?.copy()
        let error = topic.withCString { topic in
            withUnsafeTemporaryAllocation(of: rd_kafka_vu_t.self, capacity: 8) { space in
                var count = 0
                func add(_ type: rd_kafka_vtype_t, _ fill: (inout rd_kafka_vu_t) -> Void) {
                    var item = rd_kafka_vu_t()
                    item.vtype = type
                    fill(&item)
                    space.initializeElement(at: count, to: item)
                    count += 1
                }
                add(RD_KAFKA_VTYPE_TOPIC) { $0.u.cstr = topic }
                add(RD_KAFKA_VTYPE_PARTITION) { $0.u.i32 = partition ?? RD_KAFKA_PARTITION_UA }
                add(RD_KAFKA_VTYPE_MSGFLAGS) { $0.u.i = RD_KAFKA_MSG_F_COPY }
                add(RD_KAFKA_VTYPE_OPAQUE) { $0.u.ptr = UnsafeMutableRawPointer(bitPattern: tag) }
                if let key { add(RD_KAFKA_VTYPE_KEY) { $0.u.mem = .init(key) } }
                if let value { add(RD_KAFKA_VTYPE_VALUE) { $0.u.mem = .init(value) } }
                if let timestampMilliseconds { add(RD_KAFKA_VTYPE_TIMESTAMP) { $0.u.i64 = timestampMilliseconds } }
                if let copies { add(RD_KAFKA_VTYPE_HEADERS) { $0.u.headers = copies } }
                return rd_kafka_produceva(client.pointer, space.baseAddress, count)
            }
        }
        guard let error else {
            waiting += 1
            return true
        }
        // They are librdkafka's only where it took the record.
        if let copies { rd_kafka_headers_destroy(copies) }
        let isFull = rd_kafka_error_code(error) == RD_KAFKA_RESP_ERR__QUEUE_FULL
        let what = "sending to \(topic)" + (partition.map { "[\($0)]" } ?? "")
        let fault = KafkaFault.taking(error, what)
        if isFull { return false }
        throw fault
    }

    // MARK: Deliveries

    override func handle(_ event: OpaquePointer) {
        guard rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR else { return }
        var (good, bad) = (0, 0)
        while let message = rd_kafka_event_message_next(event) {
            waiting -= 1
            let code = message.pointee.err
            if code == RD_KAFKA_RESP_ERR_NO_ERROR { good += 1 } else { bad += 1 }
            onDelivery?(delivery(message, code))
        }
        acknowledged += good
        failed += bad
        instruments.produced.add(Int64(good), .acknowledged)
        if bad > 0 { instruments.produced.add(Int64(bad), .failed) }
    }

    private func delivery(_ message: UnsafePointer<rd_kafka_message_t>, _ code: rd_kafka_resp_err_t) -> KafkaDelivery {
        let tag = UInt(bitPattern: message.pointee._private)
        let partition = message.pointee.partition
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else {
            return KafkaDelivery(tag: tag, partition: partition, offset: message.pointee.offset, fault: nil)
        }
        let topic = message.pointee.rkt.flatMap { rd_kafka_topic_name($0) }.map { String(cString: $0) } ?? ""
        let fault = explained(.of(code, "sending to \(topic)" + (partition < 0 ? "" : "[\(partition)]")))
        return KafkaDelivery(tag: tag, partition: partition, offset: nil, fault: fault)
    }

    override func handle(_ fault: KafkaFault, _ code: rd_kafka_resp_err_t, _ partition: KafkaTopicPartition?) {
        instruments.faults.add(1, .other)
        if fault.isFatal { self.fault = fault }
    }

    // MARK: The end

    /// Waits until every record has ended, or the time is over: then so many are left.
    public func flush(withinMilliseconds: Int64, _ completion: @escaping (Int) -> Void) {
        flush = Flush(completion: completion)
        flushDeadline.schedule(atMilliseconds: EventLoop.currentMilliseconds() + withinMilliseconds)
        // Told by the loop even if there is nothing to wait for.
        if waiting == 0 { flushDeadline.schedule(atMilliseconds: EventLoop.currentMilliseconds()) }
    }

    override func served() {
        if waiting == 0, flush != nil { flushed() }
    }

    private func flushed() {
        flushDeadline.cancel()
        guard let completion = flush?.completion else { return }
        flush = nil
        completion(waiting)
    }

    /// Ends the connections; records that have not ended are given up and not told. Told when nothing is left.
    public func close(_ completion: @escaping () -> Void = {}) { tearDown(completion) }

    override func letGo() { flushDeadline?.cancel() }

    deinit { letGo() }
}

extension rd_kafka_vu_s.__Unnamed_union_u.__Unnamed_struct_mem {
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        // Copied before the call returns. An empty value is not the same as none.
        self.init(ptr: UnsafeMutableRawPointer(mutating: bytes.baseAddress ?? Self.nothing), size: bytes.count)
    }

    private static var nothing: UnsafeRawPointer { UnsafeRawPointer(bitPattern: 1)! }
}
