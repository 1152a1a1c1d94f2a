import Instruments
import KafkaClient
import Sockets

/// Appends to a topic of Kafka. A producer that can do no more is replaced by another, after a pause.
final class TopicAppender: EventAppender {
    private let settings: KafkaSettings
    private let topic: String
    private let producing: KafkaProducing
    private let loop: EventLoop
    private let instruments: KafkaInstruments
    private let log: Log
    private var producer: KafkaProducer?
    private var nextProducerMilliseconds = Int64.min
    /// Why there is none.
    private var fault: KafkaFault?
    private var open: [UInt: (_ problem: String?) -> Void] = [:]
    private var nextTag: UInt = 1

    private static let pauseMilliseconds: Int64 = 1_000

    /// - Parameter patienceMilliseconds: a record that is not acknowledged for so long has failed.
    init(
        settings: KafkaSettings, topic: String, patienceMilliseconds: Int64, mostWaiting: Int, loop: EventLoop,
        instruments: KafkaInstruments, log: Log
    ) {
        (self.settings, self.topic, self.loop) = (settings, topic, loop)
        (self.instruments, self.log) = (instruments, log)
        var producing = KafkaProducing()
        producing.deliveryTimeoutMilliseconds = Int(patienceMilliseconds)
        producing.mostWaiting = mostWaiting
        self.producing = producing
        // So that the first who registers does not wait for connections.
        _ = usableProducer()
    }

    func append(
        _ event: [UInt8], key: [UInt8], partition: Int32?, _ completion: @escaping (_ problem: String?) -> Void
    ) {
        guard let producer = usableProducer() else {
            return completion(fault?.description ?? "the producer of \(topic) could do no more, and is made anew")
        }
        let tag = nextTag
        nextTag += 1
        let taken = event.withUnsafeBytes { event in
            key.withUnsafeBytes { key in
                Result { () throws(KafkaFault) in
                    try producer.produce(to: topic, partition: partition, key: key, value: event, tag: tag)
                }
            }
        }
        switch taken {
        case .success(true): open[tag] = completion
        case .success(false): completion("too many records wait for Kafka to acknowledge them")
        case .failure(let fault): completion(fault.description)
        }
    }

    private func usableProducer() -> KafkaProducer? {
        if let fatal = producer?.fault {
            log.error("the producer of registrations can do no more, and is made anew", .hint(fatal.description))
            fault = fatal
            endProducer()
        }
        if let producer { return producer }
        let now = EventLoop.currentMilliseconds()
        guard now >= nextProducerMilliseconds else { return nil }
        nextProducerMilliseconds = now + Self.pauseMilliseconds
        do throws(KafkaFault) {
            let made = try KafkaProducer(
                settings: settings, producing: producing, loop: loop, instruments: instruments, log: log)
            made.onDelivery = { [weak self] in self?.delivered($0) }
            // It then knows the leaders of the topic when the first record comes: librdkafka takes a second to ask by itself.
            made.partitionCounts(of: [topic]) { _ in }
            (producer, fault) = (made, nil)
            return made
        } catch {
            fault = error
            return nil
        }
    }

    private func delivered(_ delivery: KafkaDelivery) {
        open.removeValue(forKey: delivery.tag)?(delivery.fault?.description)
    }

    /// What it had not ended is told by nobody else.
    private func endProducer(_ completion: @escaping () -> Void = {}) {
        let left = open
        open = [:]
        for completion in left.values { completion(fault?.description ?? "the service stops") }
        guard let producer else { return completion() }
        self.producer = nil
        producer.close(completion)
    }

    func close(_ completion: @escaping () -> Void) {
        nextProducerMilliseconds = .max
        endProducer(completion)
    }
}
