import Flow
import Instruments
import Pacing
import Telemetry

/// An explanation as a JSON object: each decision with its numbers and as a sentence. README.md of this folder lists the fields.
public struct ExplanationDocument {
    let explanation: LaneExplanation
    private let decisionText: DecisionText
    private let situationText: SituationText
    private let member: String?
    var json = JSONWriter()

    /// - Parameters:
    ///   - member: who answers; nil where no group is joined.
    ///   - isPlayed: a recording was played, as by `plan`: every push counts as accepted.
    public static func json(_ explanation: LaneExplanation, member: String? = nil, isPlayed: Bool = false) -> [UInt8] {
        var document = ExplanationDocument(explanation, member: member, isPlayed: isPlayed)
        document.write()
        return document.json.bytes
    }

    private init(_ explanation: LaneExplanation, member: String?, isPlayed: Bool) {
        self.explanation = explanation
        self.member = member
        decisionText = DecisionText(explanation: explanation, isPlayed: isPlayed)
        situationText = SituationText(explanation, isPlayed: isPlayed)
    }

    private var activity: ActivityExplanation { explanation.activity }
    var situation: ActivitySituation { activity.situation }

    private mutating func write() {
        json.begin(nil, "{")
        json.string("activityId", activity.activityIdentifier)
        json.string("member", member)
        json.integer("partition", Int64(explanation.partition))
        json.time("at", activity.atMilliseconds)
        json.array("text", situationText.lines)
        writeMemory()
        json.begin("decisions", "[")
        for line in timeline { write(line) }
        json.end("]")
        writeSituation()
        json.end("}")
    }

    private mutating func writeMemory() {
        json.begin("memory", "{")
        switch activity.memory {
        case .off: json.string("reach", "off")
        case .none: json.string("reach", "none")
        case .whole(let since):
            json.string("reach", "whole")
            json.time("since", since)
        case .since(let since):
            json.string("reach", "cut")
            json.time("since", since)
        }
        json.string("text", memoryText)
        json.end("}")
    }

    private var memoryText: String {
        switch activity.memory {
        case .off: "Decisions are not remembered: explain.memoryMiB is 0."
        case .none: "Of this activity nothing is remembered: others needed the memory (explain.memoryMiB)."
        case .whole: "All that this process decided for it is remembered."
        case .since(let time):
            "What was decided before \(ExplanationWords.time(time)) is forgotten: an activity has 256 entries, and all share explain.memoryMiB."
        }
    }

    // MARK: The story

    private enum Line {
        case decision(ExplainedDecision)
        case opened(Outage)
        case closed(Outage, atMilliseconds: Int64)

        var milliseconds: Int64 {
            switch self {
            case .decision(let decision): decision.firstMilliseconds
            case .opened(let outage): outage.openedAtMilliseconds
            case .closed(_, let time): time
            }
        }
    }

    /// Its decisions, and when the breaker of its pool was open meanwhile.
    private var timeline: [Line] {
        var lines = activity.decisions.map { Line.decision($0) }
        let begin: Int64 =
            switch activity.memory {
            case .whole(let since), .since(let since): since
            case .off, .none: .max
            }
        for outage in explanation.outages where outage.closedAtMilliseconds ?? .max >= begin {
            lines.append(.opened(outage))
            if let closed = outage.closedAtMilliseconds { lines.append(.closed(outage, atMilliseconds: closed)) }
        }
        return lines.enumerated().sorted { ($0.element.milliseconds, $0.offset) < ($1.element.milliseconds, $1.offset) }
            .map(\.element)
    }

    private mutating func write(_ line: Line) {
        json.begin(nil, "{")
        switch line {
        case .decision(let decision):
            json.time("first", decision.firstMilliseconds)
            json.time("last", decision.lastMilliseconds)
            json.integer("count", Int64(decision.count))
            write(decision.what)
            json.string("text", decisionText.text(decision))
        case .opened(let outage):
            json.time("first", outage.openedAtMilliseconds)
            json.time("last", outage.openedAtMilliseconds)
            json.integer("count", 1)
            json.string("kind", "breaker_opened")
            json.string("reason", outage.answer)
            json.string("text", "the breaker of its pool opened, and only single probes leave: \(outage.words)")
        case .closed(_, let time):
            json.time("first", time)
            json.time("last", time)
            json.integer("count", 1)
            json.string("kind", "breaker_closed")
            json.string("text", "the breaker of its pool closed: a push was accepted")
        }
        json.end("}")
    }

    private mutating func write(_ what: ExplainedDecision.What) {
        switch what {
        case .began(let beginning):
            json.string("kind", "began")
            json.string("by", beginning.name)
        case .insideDeadband(let distance):
            json.string("kind", "inside_deadband")
            write(distance)
        case .dropped(let drop):
            json.string("kind", "dropped")
            write(drop)
        case .heldAside(let drop):
            json.string("kind", "held_aside")
            write(drop)
        case .applied: json.string("kind", "applied")
        case .waits(let wait):
            json.string("kind", "waits")
            json.array("reasons", wait.reasons.names)
            json.string("class", wait.isUrgent ? "urgent" : "routine")
            write(wait.distance)
            json.integer("bucketLevel", Int64(wait.level))
            write(wait.gates)
        case .decided(let decision, let distance):
            json.string("kind", decision.name)
            write(distance)
        case .sent(let send):
            json.string("kind", "sent")
            json.integer("sequence", Int64(clamping: send.sequence))
            json.string("apnsId", apnsIdentifier(send.sequence))
            json.string("event", send.kind.word)
            json.array("reasons", send.reasons.names)
            json.string("class", send.reasons.isUrgent ? "urgent" : "routine")
            json.integer("priority", Int64(send.priority))
            json.integer("attempt", Int64(send.attempt))
            write(send.distance)
            json.integer("bucketLevel", Int64(send.level))
            json.seconds("streamWaitSeconds", send.creditMilliseconds)
            if let answer = send.answer {
                json.begin("answer", "{")
                write(answer)
                json.end("}")
            }
        case .answered(let answer):
            json.string("kind", "answered")
            json.integer("sequence", Int64(clamping: answer.sequence))
            json.string("apnsId", apnsIdentifier(answer.sequence))
            json.integer("attempt", Int64(answer.attempt))
            write(answer)
        case .target(let change):
            json.string("kind", "target")
            json.string("target", change.name)
        case .ended(let ending):
            json.string("kind", "ended")
            json.string("by", ending.name)
        }
    }

    private func apnsIdentifier(_ sequence: UInt64) -> String {
        "\(APNsIdentifier(activity: activity.activityIdentifier, sequence: sequence))"
    }

    private mutating func write(_ distance: ExplainedDecision.Distance?) {
        guard let distance else { return }
        json.number("distanceMeters", distance.meters, places: 2)
        json.number("thresholdMeters", distance.thresholdMeters, places: 2)
    }

    private mutating func write(_ drop: ExplainedDecision.Drop) {
        json.string("decision", drop.decision.name)
        switch drop.decision {
        case .inaccurate:
            json.number("accuracyMeters", drop.value, places: 2)
            json.number("limitMeters", drop.limit, places: 2)
        case .implausible:
            json.number("metersPerSecond", drop.value, places: 2)
            json.number("limitMetersPerSecond", drop.limit, places: 2)
        case .future, .tooOld, .outOfOrder:
            json.seconds("offBySeconds", drop.value.map { Int64($0) })
            json.seconds("limitSeconds", drop.limit.map { Int64($0) })
        default: break
        }
    }

    private mutating func write(_ answer: JournalAnswer) {
        json.string("fate", answer.fate.name)
        if answer.status > 0 { json.integer("status", Int64(answer.status)) }
        json.string("reason", explanation.reason(answer))
        json.seconds("tookSeconds", answer.tookMilliseconds)
        if answer.fate == .held { json.seconds("heldSeconds", answer.holdMilliseconds) }
    }

    mutating func write(_ gates: [ExplainedGate]) {
        json.begin("gates", "[")
        for gate in gates {
            json.begin(nil, "{")
            json.string("gate", gate.kind.name)
            json.time("opens", gate.opensAtMilliseconds)
            json.end("}")
        }
        json.end("]")
    }
}
