import CRdkafka
import Instruments
import Sockets
import Synchronization

/// What readers, members, producers and look-ups have in common: a client of librdkafka, its events taken on the loop, its log, and how it stands.
///
/// Belongs to the loop's thread. librdkafka's own threads only wake the loop; nothing is called from them. What blocks is done by a thread
/// of its own and told on the loop.
public class KafkaConnection {
    public let settings: KafkaSettings
    public private(set) var status = KafkaStatus.connecting
    /// Called on the loop when `status` has changed.
    public var onStatusChange: (() -> Void)?
    /// Each second.
    public var onStatistics: ((KafkaStatistics) -> Void)?

    let loop: EventLoop
    let instruments: KafkaInstruments
    let client: NativeClient
    let wake: WakeDescriptor
    /// Whether librdkafka can free its client. Where it cannot, what is left of it goes with the process.
    var mayBeFreed = true
    private let log: Log
    private let secrets: [String]
    /// Nil once it is closed.
    private(set) var events: OpaquePointer?
    private let watch = Watch()
    private let errands = ErrandThread()
    private let finished = FinishedErrands()
    private var answers: [UInt64: () -> Void] = [:]
    private var lastErrand: UInt64 = 0
    private var pollTimer: LoopTimer!

    /// A member that does not poll is taken for dead; there may be nothing else that has the loop turn.
    private static let pollMilliseconds: Int64 = 500

    /// - Parameter queue: which of the client's queues carries its events.
    init(
        _ type: rd_kafka_type_t, _ properties: [KafkaProperty], events: Int32, settings: KafkaSettings,
        loop: EventLoop, instruments: KafkaInstruments, log: Log, queue: (NativeClient) -> OpaquePointer
    ) throws(KafkaFault) {
        try settings.checkFiles()
        do throws(SystemFault) {
            wake = try WakeDescriptor()
        } catch {
            throw KafkaFault(.refused, "\(error)", remedy: "raise the limit of open files")
        }
        // Asked for where it is of no use, it would keep librdkafka from fetching tokens itself (sasl.oauthbearer.method=oidc).
        let token = settings.tokenFile == nil ? 0 : RD_KAFKA_EVENT_OAUTHBEARER_TOKEN_REFRESH
        let always = RD_KAFKA_EVENT_LOG | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS | token
        client = try NativeClient(type, properties, own: settings.properties, events: always | events)
        (self.settings, self.loop, self.instruments, self.log) = (settings, loop, instruments, log)
        secrets =
            properties.filter { KafkaProperty.isSecret($0.key) }.map(\.value)
            + settings.properties.filter { KafkaProperty.isSecret($0.key) }.map(\.value)
        let events = queue(client)
        self.events = events
        rd_kafka_set_log_queue(client.pointer, events)
        wakes(on: events)
        watch.connection = self
        do throws(SystemFault) {
            try loop.add(watch, fileDescriptor: wake.descriptor, events: .readable)
        } catch {
            throw KafkaFault(.refused, "\(error)", remedy: "raise the limit of open files")
        }
        pollTimer = loop.timer { [weak self] in self?.pollAgain() }
        pollAgain()
    }

    deinit {
        pollTimer?.cancel()
        loop.remove(watch)
        guard let events else { return }
        free(events) {}
    }

    var isClosed: Bool { events == nil }

    func wakes(on queue: OpaquePointer) {
        withUnsafeBytes(of: WakeDescriptor.payload) {
            rd_kafka_queue_io_event_enable(queue, wake.descriptor, $0.baseAddress, $0.count)
        }
    }

    // MARK: Events

    private func pollAgain() {
        guard !isClosed else { return }
        pollTimer.schedule(atMilliseconds: EventLoop.currentMilliseconds() + Self.pollMilliseconds)
        serve()
    }

    fileprivate func serve() {
        if !isClosed { serving() }
        wake.clear()
        while let events, let event = rd_kafka_queue_poll(events, 0) {
            take(event)
            rd_kafka_event_destroy(event)
        }
        for number in finished.take() { answers.removeValue(forKey: number)?() }
        if !isClosed { served() }
    }

    private func take(_ event: OpaquePointer) {
        switch rd_kafka_event_type(event) {
        case RD_KAFKA_EVENT_LOG: writeLog(event)
        case RD_KAFKA_EVENT_STATS: takeStatistics(event)
        case RD_KAFKA_EVENT_ERROR: takeError(event)
        case RD_KAFKA_EVENT_OAUTHBEARER_TOKEN_REFRESH: refreshToken()
        default: handle(event)
        }
    }

    /// An event that is none of those that all clients have.
    func handle(_ event: OpaquePointer) {}
    /// An error that concerns a partition, the group, or everything where it `isFatal`.
    func handle(_ fault: KafkaFault, _ code: rd_kafka_resp_err_t, _ partition: KafkaTopicPartition?) {}
    /// Before events are taken.
    func serving() {}
    /// All events that were there have been taken.
    func served() {}
    /// Before the client goes: what else holds on to it.
    func letGo() {}

    private func takeStatistics(_ event: OpaquePointer) {
        guard let json = rd_kafka_event_stats(event) else { return }
        guard let statistics = KafkaStatistics(json: json) else { return }
        if statistics.brokersUp > 0 { stands(.connected) }
        onStatistics?(statistics)
    }

    private func takeError(_ event: OpaquePointer) {
        var code = rd_kafka_event_error(event)
        var detail = rd_kafka_event_error_string(event).map { String(cString: $0) } ?? ""
        let isFatal = rd_kafka_event_error_is_fatal(event) != 0
        if isFatal {
            var says = [CChar](repeating: 0, count: 512)
            code = rd_kafka_fatal_error(client.pointer, &says, says.count)
            detail = text(says)
        }
        detail = detail.hiding(secrets)
        var partition: KafkaTopicPartition?
        if let pointer = rd_kafka_event_topic_partition(event) {
            partition = KafkaTopicPartition(String(cString: pointer.pointee.topic), pointer.pointee.partition)
            rd_kafka_topic_partition_destroy(pointer)
        }
        if KafkaFault.isAboutConnections(code), !isFatal {
            instruments.faults.add(1, .connection)
            return connectionFailed(code, detail)
        }
        let what = partition.map { $0.partition < 0 ? "topic \($0.topic)" : "partition \($0)" } ?? "the client of Kafka"
        var fault = KafkaFault.of(code, what, detail: detail)
        fault.isFatal = isFatal
        if isFatal { stands(.failing(fault)) }
        handle(fault, code, partition)
    }

    /// "All brokers are down" follows on what says why; that is kept.
    private func connectionFailed(_ code: rd_kafka_resp_err_t, _ detail: String) {
        if code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN {
            if case .failing = status { return }
            if let lastConnectionFault { return stands(.failing(lastConnectionFault)) }
        }
        // As long as there is no token, that is why; librdkafka says it again in its own words, before or after.
        if case .failing(let fault)? = tokenResult { return stands(.failing(fault)) }
        if settings.tokenFile != nil, detail.contains("OAUTHBEARER token") { return }
        let servers = settings.bootstrapServers.joined(separator: ",")
        let fault = KafkaFault.of(code, "connecting to Kafka at \(servers)", detail: detail)
        lastConnectionFault = fault
        // One of several brokers may be away, and that is no fault of the cluster.
        if status != .connected || code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || fault.kind == .credentials {
            stands(.failing(fault))
        }
    }

    private var lastConnectionFault: KafkaFault?

    /// nil where no token is asked for, or not yet.
    var tokenResult: TokenResult?

    /// Something has come back from a broker, or nothing can.
    func stands(_ new: KafkaStatus) {
        guard new != status else { return }
        if case .failing(let fault) = status, fault.isFatal { return }
        let isNews = !status.isFailing || !new.isFailing
        status = new
        switch new {
        case .connected:
            lastConnectionFault = nil
            log.info("connected")
        case .connecting: break
        case .failing(let fault):
            if isNews || fault.isFatal {
                log.warning("Kafka cannot be worked with", .error(fault.problem), .hint(fault.remedy))
            }
        }
        onStatusChange?()
    }

    /// librdkafka's own words. Its levels are those of syslog.
    private func writeLog(_ event: OpaquePointer) {
        var facility: UnsafePointer<CChar>?
        var message: UnsafePointer<CChar>?
        var level: Int32 = 0
        guard rd_kafka_event_log(event, &facility, &message, &level) == 0, let facility, let message else { return }
        let name = String(cString: facility)
        // Told as events as well, and they come again and again while a broker is away.
        let isTold = ["FAIL", "ERROR", "CONNECT"].contains(name)
        let ours: LogLevel =
            switch level {
            case ...3: isTold ? .debug : .warning
            case 4, 5: isTold ? .debug : .info
            case 6: .debug
            default: .trace
            }
        guard log.isOn(ours) else { return }
        log.write(
            ours, "librdkafka says",
            [.field("facility", name), .field("text", String(cString: message).hiding(secrets))])
    }

    // MARK: What blocks

    /// Asks away from the loop, one question after the other, and tells the answer on it.
    func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (NativeClient) -> Answer, completion: @escaping (Answer) -> Void
    ) {
        precondition(!isClosed, "a client of Kafka that was closed is asked")
        lastErrand += 1
        let box = AnswerBox<Answer>()
        answers[lastErrand] = { completion(box.take()) }
        errands.run { [client, wake, finished, lastErrand] in
            box.put(question(client))
            finished.add(lastErrand)
            wake.wake()
        }
    }

    /// What is known of the connection says more than a look-up that had no answer.
    func explained(_ fault: KafkaFault) -> KafkaFault {
        if [.timeout, .unreachable].contains(fault.kind), case .failing(let reason) = status { return reason }
        return fault
    }

    /// Whoever began to close it need not keep it.
    func keepUntilClosed() { watch.closing = self }

    /// Answers that are open are not told. `completion` comes once librdkafka has let go of everything.
    func tearDown(_ completion: @escaping () -> Void) {
        guard let events else { return }
        letGo()
        self.events = nil
        pollTimer.cancel()
        lastErrand += 1
        keepUntilClosed()
        answers = [
            lastErrand: { [self] in
                loop.remove(watch)
                watch.closing = nil
                completion()
            }
        ]
        free(events) { [finished, wake, lastErrand] in
            finished.add(lastErrand)
            wake.wake()
        }
    }

    /// On a thread that may wait: librdkafka does as long as a record is lent. The descriptor stays open until then.
    private func free(_ events: OpaquePointer, _ then: @escaping @Sendable () -> Void) {
        rd_kafka_queue_io_event_enable(events, -1, nil, 0)
        rd_kafka_queue_destroy(events)
        errands.run { [client, wake, mayBeFreed] in
            if mayBeFreed { rd_kafka_destroy_flags(client.pointer, Int32(RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)) }
            withExtendedLifetime(wake) {}
            then()
        }
    }
}

/// Stands between the loop and its connection, which the loop must not keep.
private final class Watch: EventSource {
    weak var connection: KafkaConnection?
    /// Until it is closed.
    var closing: KafkaConnection?

    override func ready(_ events: ReadyEvents) { connection?.serve() }
}

private final class FinishedErrands: Sendable {
    private let numbers = Mutex<[UInt64]>([])

    func add(_ number: UInt64) { numbers.withLock { $0.append(number) } }
    func take() -> [UInt64] {
        numbers.withLock { numbers in
            defer { numbers = [] }
            return numbers
        }
    }
}

/// Carries an answer from thread to thread.
private final class AnswerBox<Answer: Sendable>: Sendable {
    private let answer = Mutex<Answer?>(nil)

    func put(_ value: Answer) { answer.withLock { $0 = value } }
    func take() -> Answer { answer.withLock { $0! } }
}
