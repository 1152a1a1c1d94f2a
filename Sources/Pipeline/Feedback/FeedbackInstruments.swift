import Instruments
import Streams

struct FeedbackInstruments: Sendable {
    /// `FeedbackEvent.Kind` as a closed set of labels, in the same order.
    enum KindLabel: String, MetricLabel {
        case pushAccepted = "push.accepted"
        case pushRefused = "push.refused"
        case tokenGone = "token.gone"
        case activityEnded = "activity.ended"
        case startUnknown = "start.unknown"
        static var labelName: String { "type" }

        init(_ kind: FeedbackEvent.Kind) {
            self =
                switch kind {
                case .pushAccepted: .pushAccepted
                case .pushRefused: .pushRefused
                case .tokenGone: .tokenGone
                case .activityEnded: .activityEnded
                case .startUnknown: .startUnknown
                }
        }
    }

    enum OutcomeLabel: String, MetricLabel {
        case written, dropped
        static var labelName: String { "outcome" }
    }

    let events: Counter<LabelPair<KindLabel, OutcomeLabel>>
    let failures: Counter<NoLabel>
    let pending: Gauge<NoLabel>
    let unwaited: Counter<NoLabel>

    init(registry: Registry) {
        events = registry.counter(
            "waypulse_feedback_total", by: LabelPair<KindLabel, OutcomeLabel>.self,
            help: "Feedback events that lie where they are kept, and those dropped for want of room.")
        failures = registry.counter(
            "waypulse_feedback_failures_total", help: "Writes of feedback that failed, and were tried again.")
        pending = registry.gauge("waypulse_feedback_pending", help: "Feedback events that wait to be written.")
        unwaited = registry.counter(
            "waypulse_feedback_unwaited_total",
            help: "Saves that did not wait for feedback any longer: a kill before it is written loses it.")
    }
}
