import Instruments
import KafkaClient

/// What librdkafka says each second of its connections and queues.
struct KafkaGauges {
    private let brokersUp: Gauge<NoLabel>
    private let brokers: Gauge<NoLabel>
    private let roundTrip: Gauge<NoLabel>
    private let coordinatorSilence: Gauge<NoLabel>
    private let queuedRecords: Gauge<NoLabel>
    private let queuedBytes: Gauge<NoLabel>

    init(registry: Registry) {
        brokers = registry.gauge("waypulse_kafka_brokers", help: "Brokers of the cluster, as far as they are known.")
        brokersUp = registry.gauge(
            "waypulse_kafka_brokers_up",
            help: "Brokers that the reader is connected to; it connects to those alone that lead a partition it reads.")
        roundTrip = registry.gauge(
            "waypulse_kafka_round_trip_seconds", unit: .microseconds, isMaximum: true,
            help: "Mean round trip to the slowest broker.")
        coordinatorSilence = registry.gauge(
            "waypulse_kafka_coordinator_silence_seconds", unit: .milliseconds, isMaximum: true,
            help: "Since anything came from the group's coordinator; it answers several heartbeats a session.")
        queuedRecords = registry.gauge(
            "waypulse_kafka_queued_records", help: "Records that were fetched and not taken yet.")
        queuedBytes = registry.gauge(
            "waypulse_kafka_queued_bytes", unit: .bytes,
            help: "Their bytes, of which source.kafka.prefetchMiB is the budget.")
    }

    func publish(ofReader statistics: KafkaStatistics) {
        brokers.set(Int64(statistics.brokers))
        brokersUp.set(Int64(statistics.brokersUp))
        roundTrip.set(statistics.roundTripMicroseconds)
        queuedRecords.set(statistics.partitions.reduce(0) { $0 + $1.queuedRecords })
        queuedBytes.set(statistics.partitions.reduce(0) { $0 + $1.queuedBytes })
    }

    func publish(ofMember statistics: KafkaStatistics) {
        coordinatorSilence.set(statistics.coordinatorSilenceMilliseconds ?? 0)
    }
}
