import Flow
import Instruments
import Pacing
import Telemetry

/// What lanes count. One set serves all lanes of a process.
public struct LaneInstruments: Sendable {
    /// Pacing's decisions as a closed set of labels, in the same order.
    public enum DecisionLabel: String, MetricLabel {
        case afterEnd = "after_end"
        case noFollower = "no_follower"
        case unknownActivity = "unknown_activity"
        case duplicate
        case outOfOrder = "out_of_order"
        case nullIsland = "null_island"
        case inaccurate, future
        case tooOld = "too_old"
        case implausible
        case repeatedStart = "repeated_start"
        case deadband, applied, unchanged, conflated, returned, sent, refused, unsendable
        case deadLetter = "dead_letter"
        case handedOver = "handed_over"
        public static var labelName: String { "decision" }
    }

    public enum FaultLabel: String, MetricLabel {
        case notJSON = "not_json"
        case notAnObject = "not_an_object"
        case tooLarge = "too_large"
        case unknownType = "unknown_type"
        case missingField = "missing_field"
        case wrongType = "wrong_type"
        case outOfRange = "out_of_range"
        case badTimestamp = "bad_timestamp"
        case badToken = "bad_token"
        case tooManyTargets = "too_many_targets"
        case unknownApp = "unknown_app"
        case contentStateMismatch = "content_state_mismatch"
        case contentStateTooLarge = "content_state_too_large"
        case crashed
        public static var labelName: String { "reason" }
    }

    public enum FateLabel: String, MetricLabel {
        case accepted, refused, held, unsent, orphaned
        case targetGone = "target_gone"
        case sendAgain = "send_again"
        case startUnknown = "start_unknown"
        public static var labelName: String { "fate" }
    }

    public enum ClassLabel: String, MetricLabel {
        case urgent, routine
        public static var labelName: String { "class" }
    }

    public enum AlarmLabel: String, MetricLabel {
        case clock, credential, configuration
        case suspectTokens = "suspect_tokens"
        case deadLetters = "dead_letters"
        case feedback
        public static var labelName: String { "alarm" }
    }

    let records: Counter<NoLabel>
    let decisions: Counter<DecisionLabel>
    let activityEvents: Counter<NoLabel>
    let weekRollovers: Counter<NoLabel>
    let pending: Gauge<NoLabel>
    let activities: Gauge<NoLabel>
    let deadLetters: Counter<FaultLabel>
    let unpushable: Counter<NoLabel>
    let updates: Counter<FateLabel>
    let pushes: Counter<ClassLabel>
    let inFlight: Gauge<NoLabel>
    let waitingRetries: Gauge<NoLabel>
    let freshness: Histogram<ClassLabel>
    let alarms: Counter<AlarmLabel>
    let breakerOpen: Gauge<NoLabel>
    let explainBytes: Gauge<NoLabel>
    let explainEntries: Gauge<NoLabel>
    let explainForgotten: Counter<NoLabel>
    let clockSteps: Gauge<NoLabel>

    public init(registry: Registry) {
        records = registry.counter("waypulse_records_total", help: "Records read from the source.")
        activityEvents = registry.counter(
            "waypulse_activity_events_total",
            help: "Events for an activity: the sum of all decisions and what is pending.")
        decisions = registry.counter(
            "waypulse_decisions_total", by: DecisionLabel.self, help: "How activity events ended.")
        pending = registry.gauge("waypulse_pending_events", help: "Activity events whose decision is still open.")
        weekRollovers = registry.counter(
            "waypulse_week_rollovers_total", help: "Positions whose time was off by a multiple of 1,024 weeks.")
        activities = registry.gauge("waypulse_activities", help: "Activities in memory, ended ones included.")
        deadLetters = registry.counter(
            "waypulse_dead_letters_total", by: FaultLabel.self, help: "Records that could not be used.")
        unpushable = registry.counter(
            "waypulse_unpushable_total",
            help: "Updates that APNs or a phone would not have taken, refused before they left.")
        updates = registry.counter(
            "waypulse_updates_total", by: FateLabel.self, help: "Attempts to send an update by what became of them.")
        pushes = registry.counter(
            "waypulse_pushes_accepted_total", by: ClassLabel.self,
            help: "Pushes that the provider accepted, which is no proof of display.")
        inFlight = registry.gauge("waypulse_in_flight_updates", help: "Updates handed to workers and not answered.")
        waitingRetries = registry.gauge("waypulse_waiting_retries", help: "Updates that wait to be sent again.")
        freshness = registry.histogram(
            "waypulse_event_to_accepted_seconds", by: ClassLabel.self, unit: .milliseconds,
            bounds: [1, 5, 10, 50, 100, 500, 1_000, 5_000, 15_000, 60_000, 180_000, 900_000],
            help:
                "From applying the newest event that a push tells until it was accepted, waiting for its cadence included."
        )
        alarms = registry.counter(
            "waypulse_alarms_total", by: AlarmLabel.self, help: "Findings that a person has to look at.")
        breakerOpen = registry.gauge("waypulse_open_breakers", help: "Pools that may send no more than single probes.")
        explainBytes = registry.gauge(
            "waypulse_explain_bytes", help: "Memory used for decisions that explain tells, of explain.memoryMiB.")
        explainEntries = registry.gauge(
            "waypulse_explain_entries", help: "Decisions that explain can tell, those alike in a row counted once.")
        explainForgotten = registry.counter(
            "waypulse_explain_forgotten_total", help: "Decisions that gave way to newer ones: explain.memoryMiB.")
        clockSteps = registry.gauge(
            "waypulse_clock_steps", help: "Steps of the wall clock that pacing's clock followed.")
    }
}

extension LaneInstruments.FaultLabel {
    init(_ reason: EventFault.Reason) {
        guard let label = LaneInstruments.FaultLabel(rawValue: reason.label) else {
            preconditionFailure("\(reason.label) is no label of waypulse_dead_letters_total")
        }
        self = label
    }
}

extension LaneInstruments.FateLabel {
    init(_ fate: Completion.Fate) {
        switch fate {
        case .accepted: self = .accepted
        case .refused: self = .refused
        case .targetGone: self = .targetGone
        case .held: self = .held
        case .sendAgain: self = .sendAgain
        case .startUnknown: self = .startUnknown
        case .unsent: self = .unsent
        case .orphaned: self = .orphaned
        }
    }
}
