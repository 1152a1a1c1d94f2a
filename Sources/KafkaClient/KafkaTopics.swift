import CRdkafka
import Instruments
import Sockets

/// Looks topics up, and neither reads nor makes any.
public final class KafkaTopics: KafkaConnection {
    /// - Throws: a setting that librdkafka does not take.
    public init(
        settings: KafkaSettings, loop: EventLoop, instruments: KafkaInstruments, log: Log
    ) throws(KafkaFault) {
        try super.init(
            RD_KAFKA_CONSUMER, settings.forLookUps(), events: 0, settings: settings, loop: loop,
            instruments: instruments, log: log,
            queue: { rd_kafka_queue_get_main($0.pointer) })
    }

    /// Ends the connections; what was asked and not answered is not told. Told when nothing is left.
    public func close(_ completion: @escaping () -> Void = {}) { tearDown(completion) }
}
