import Flow
import Pacing

// Names as the JSON has them: other programs read them, so they stay.

extension Beginning {
    var name: String {
        switch self {
        case .start: "start"
        case .firstEvent: "first_event"
        case .newLife: "new_life"
        case .takenOver: "taken_over"
        }
    }
}

extension Ending {
    var name: String {
        switch self {
        case .event: "event"
        case .lifeLimit: "life_limit"
        case .unsendable: "unsendable"
        }
    }
}

extension TargetChange {
    var name: String {
        switch self {
        case .updateToken: "update_token"
        case .newUpdateToken: "new_update_token"
        case .startToken: "start_token"
        case .channel: "channel"
        }
    }
}

extension JournalAnswer.Fate {
    var name: String {
        switch self {
        case .accepted: "accepted"
        case .refused: "refused"
        case .targetGone: "target_gone"
        case .held: "held"
        case .sendAgain: "send_again"
        case .startUnknown: "start_unknown"
        case .unsent: "unsent"
        case .unpushable: "unpushable"
        }
    }
}

extension ExplainedGate.Kind {
    var name: String {
        switch self {
        case .inFlight: "in_flight"
        case .retry: "retry"
        case .turn: "turn"
        case .numbers: "numbers"
        case .startNote: "start_note"
        case .startCount: "start_count"
        case .startBudget: "start_budget"
        case .userToken: "user_token"
        case .replaced: "replaced"
        case .target: "target"
        case .timestamp: "timestamp"
        case .minInterval: "min_interval"
        case .bucket: "bucket"
        case .urgentMinInterval: "urgent_min_interval"
        }
    }
}

extension ActivitySituation.Stage {
    var name: String {
        switch self {
        case .starting: "starting"
        case .active: "active"
        case .ending: "ending"
        case .ended: "ended"
        }
    }
}

extension ActivitySituation.ThresholdRule {
    var name: String {
        switch self {
        case .deadband: "deadband"
        case .surer: "surer"
        case .accuracies: "accuracies"
        case .ceiling: "ceiling"
        case .smallestWhileWaiting: "smallest_while_waiting"
        }
    }
}

extension ActivitySituation.UnderWay.Phase {
    var name: String {
        switch self {
        case .inFlight: "in_flight"
        case .waiting: "waiting"
        case .lapsed: "due"
        }
    }
}

extension LaneExplanation.Ownership {
    var name: String {
        switch self {
        case .sends: "sends"
        case .catchingUp: "catching_up"
        case .draining: "draining"
        case .lapsed: "lapsed"
        }
    }
}
