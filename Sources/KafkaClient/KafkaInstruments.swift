import Instruments

/// What is counted of all clients of Kafka together. Declared once a registry, however many clients there are.
public struct KafkaInstruments: Sendable {
    enum Rebalance: String, MetricLabel {
        static let labelName = "event"
        case assigned, revoked, lost
    }

    enum CommitOutcome: String, MetricLabel {
        static let labelName = "outcome"
        case committed, refused
        /// Came too late: the partition has, or may have, a new owner.
        case stale
    }

    enum Delivery: String, MetricLabel {
        static let labelName = "outcome"
        case acknowledged, failed
    }

    enum Fault: String, MetricLabel {
        static let labelName = "kind"
        case connection, partition, group, other
    }

    let records: Counter<NoLabel>
    let rebalances: Counter<Rebalance>
    let commits: Counter<CommitOutcome>
    let produced: Counter<Delivery>
    let faults: Counter<Fault>

    public init(registry: Registry) {
        records = registry.counter(
            "waypulse_kafka_records_total", help: "Records taken from Kafka.")
        rebalances = registry.counter(
            "waypulse_kafka_rebalances_total", by: Rebalance.self,
            help: "Partitions that the group gave to this process, asked back, or took for lost.")
        commits = registry.counter(
            "waypulse_kafka_commits_total", by: CommitOutcome.self,
            help: "Commits of offsets; those stale came too late and change nothing.")
        produced = registry.counter(
            "waypulse_kafka_produced_total", by: Delivery.self, help: "Records sent to Kafka, by how it ended.")
        faults = registry.counter(
            "waypulse_kafka_faults_total", by: Fault.self, help: "Errors that librdkafka told of.")
    }
}
