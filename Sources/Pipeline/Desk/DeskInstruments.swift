import Instruments
import KafkaClient
import RedisClient
import Registration

/// What connections count: one set of each serves all of a process.
public struct ConnectionInstruments: Sendable {
    let redis: RedisInstruments
    /// Nil without Kafka.
    let kafka: KafkaInstruments?
}

/// What became of registrations. One set serves all desks of a process.
struct DeskInstruments: Sendable {
    enum OutcomeLabel: String, MetricLabel {
        case appended, stored, superseded, unavailable, overloaded
        static var labelName: String { "outcome" }
    }

    private let registrations: Counter<OutcomeLabel>

    init(registry: Registry) {
        registrations = registry.counter(
            "waypulse_registrations_total", by: OutcomeLabel.self,
            help: "Tokens that apps registered or took back, by what became of it.")
    }

    func note(_ outcome: RegistrationOutcome) {
        switch outcome {
        case .appended: registrations.add(1, .appended)
        case .stored: registrations.add(1, .stored)
        case .superseded: registrations.add(1, .superseded)
        case .unavailable: registrations.add(1, .unavailable)
        case .overloaded: registrations.add(1, .overloaded)
        }
    }
}
