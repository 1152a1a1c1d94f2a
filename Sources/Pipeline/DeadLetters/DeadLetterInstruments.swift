import Instruments
import Streams

/// What is counted of dead letters beside their reasons.
struct DeadLetterInstruments: Sendable {
    enum StageLabel: String, MetricLabel {
        case decode, schema, pacing, push
        static var labelName: String { "stage" }
    }

    enum CauseLabel: String, MetricLabel {
        /// Too many dead letters among the records.
        case flood
        /// Too many of them wait to be written.
        case pending
        static var labelName: String { "cause" }
    }

    let written: Counter<StageLabel>
    let failures: Counter<NoLabel>
    let trimmed: Counter<NoLabel>
    let pending: Gauge<NoLabel>
    let stopped: Gauge<CauseLabel>

    init(registry: Registry) {
        written = registry.counter(
            "waypulse_dead_letters_written_total", by: StageLabel.self,
            help: "Dead letters that lie where they are kept, by where they failed.")
        failures = registry.counter(
            "waypulse_dead_letter_failures_total", help: "Writes of dead letters that failed, and were tried again.")
        trimmed = registry.counter(
            "waypulse_dead_letters_trimmed_total",
            help: "Dead letters that went for newer ones, as deadLetters.maxLength and maxAge say.")
        pending = registry.gauge("waypulse_dead_letters_pending", help: "Dead letters that wait to be written.")
        stopped = registry.gauge(
            "waypulse_reading_stopped", by: CauseLabel.self, help: "1 where nothing is read because of dead letters.")
    }
}

extension DeadLetterInstruments.StageLabel {
    init(_ stage: DeadLetter.Stage) {
        switch stage {
        case .decode: self = .decode
        case .schema: self = .schema
        case .pacing: self = .pacing
        case .push: self = .push
        }
    }
}
