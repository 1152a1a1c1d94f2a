/// From what lies in memory to what can be read.
extension ExplainedDecision {
    /// In the order of their beginnings; an answer stands with its push.
    static func list(_ entries: [JournalEntry]) -> [ExplainedDecision] {
        var list: [ExplainedDecision] = []
        // Runs of positions are written down when they end.
        let ordered = entries.enumerated().sorted {
            ($0.element.first.value, $0.offset) < ($1.element.first.value, $1.offset)
        }
        for (_, entry) in ordered {
            let decision = ExplainedDecision(entry)
            if case .answered(let answer) = decision.what,
                let place = list.lastIndex(where: { $0.isAsked(by: answer) }),
                case .sent(var send) = list[place].what
            {
                send.answer = answer
                list[place].what = .sent(send)
                list[place].lastMilliseconds = max(list[place].firstMilliseconds, decision.lastMilliseconds)
            } else {
                list.append(decision)
            }
        }
        return list
    }

    private func isAsked(by answer: JournalAnswer) -> Bool {
        guard case .sent(let send) = what else { return false }
        return send.sequence == answer.sequence && send.attempt == answer.attempt && send.answer == nil
    }

    init(_ entry: JournalEntry) {
        self.init(
            firstMilliseconds: entry.first.value, lastMilliseconds: entry.last.value,
            // The event that made something wait is one.
            count: Int(entry.kind == .waits ? entry.count &+ 1 : entry.count), what: What(entry))
    }
}

extension ExplainedDecision.What {
    init(_ entry: JournalEntry) {
        switch entry.kind {
        case .began: self = .began(Beginning(rawValue: entry.detail) ?? .start)
        case .insideDeadband: self = .insideDeadband(Distance(entry) ?? Distance(meters: 0, thresholdMeters: 0))
        case .dropped: self = .dropped(Drop(entry))
        case .heldAside: self = .heldAside(Drop(entry))
        case .applied: self = .applied
        case .waits: self = .waits(Wait(entry))
        case .decided: self = .decided(Decision(rawValue: entry.detail) ?? .returned, Distance(entry))
        case .sent: self = .sent(Send(entry))
        case .answered: self = .answered(JournalAnswer(entry))
        case .target: self = .target(TargetChange(rawValue: entry.detail) ?? .updateToken)
        case .ended: self = .ended(Ending(rawValue: entry.detail) ?? .event)
        }
    }

    private typealias Distance = ExplainedDecision.Distance
    private typealias Drop = ExplainedDecision.Drop
    private typealias Wait = ExplainedDecision.Wait
    private typealias Send = ExplainedDecision.Send
}

extension ExplainedDecision.Distance {
    fileprivate init?(_ entry: JournalEntry) {
        guard !entry.a.isNaN else { return nil }
        self.init(meters: Double(entry.a), thresholdMeters: Double(entry.b))
    }
}

extension ExplainedDecision.Drop {
    fileprivate init(_ entry: JournalEntry) {
        let decision = Decision(rawValue: entry.detail) ?? .deadLetter
        switch decision {
        case .inaccurate, .implausible:
            self.init(
                decision: decision, value: entry.a.isNaN ? nil : Double(entry.a),
                limit: entry.b.isNaN ? nil : Double(entry.b))
        case .future, .tooOld: self.init(decision: decision, value: Double(entry.c), limit: Double(entry.d))
        case .outOfOrder: self.init(decision: decision, value: Double(entry.c), limit: nil)
        default: self.init(decision: decision, value: nil, limit: nil)
        }
    }
}

extension ExplainedDecision.Wait {
    fileprivate init(_ entry: JournalEntry) {
        let gates = ExplainedGate.Kind.allCases.filter { entry.e & 1 << UInt32($0.rawValue) != 0 }.map { kind in
            let opens: Int64 =
                switch kind {
                case .minInterval, .urgentMinInterval: entry.c
                case .bucket: entry.d
                case .turn, .timestamp, .startBudget: entry.g
                case .inFlight, .retry, .numbers, .startNote, .target, .userToken, .startCount, .replaced: 0
                }
            return ExplainedGate(kind: kind, opensAtMilliseconds: opens == 0 ? nil : opens)
        }
        self.init(
            reasons: entry.reasons, isUrgent: entry.f & 0x100 != 0, distance: ExplainedDecision.Distance(entry),
            gates: gates, level: Int(Int8(truncatingIfNeeded: entry.f)))
    }
}

extension ExplainedDecision.Send {
    fileprivate init(_ entry: JournalEntry) {
        self.init(
            kind: Update.Kind(rawValue: UInt8(entry.f >> 8 & 0xff)) ?? .update, reasons: entry.reasons,
            sequence: UInt64(entry.e), priority: Int(entry.f >> 16 & 0xff), attempt: Int(entry.g),
            distance: ExplainedDecision.Distance(entry), level: Int(Int8(truncatingIfNeeded: entry.f)),
            creditMilliseconds: entry.c, answer: nil)
    }
}

extension JournalAnswer {
    fileprivate init(_ entry: JournalEntry) {
        self.init(
            fate: Fate(rawValue: entry.detail) ?? .accepted, sequence: UInt64(entry.e), attempt: Int(entry.g),
            status: Int(entry.f >> 16), reason: Int(entry.f & 0xffff), tookMilliseconds: entry.c,
            holdMilliseconds: entry.d)
    }
}
