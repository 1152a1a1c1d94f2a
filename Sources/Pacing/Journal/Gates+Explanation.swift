/// The gates that are shut, each with the time that opens it.
extension Gates {
    func shut(isUrgent: Bool) -> [ExplainedGate] {
        var gates: [ExplainedGate] = []
        func note(_ kind: ExplainedGate.Kind, opensAt milliseconds: Int64? = nil) {
            if let milliseconds, milliseconds <= moment.nowMilliseconds { return }
            gates.append(ExplainedGate(kind: kind, opensAtMilliseconds: milliseconds == .max ? nil : milliseconds))
        }
        /// What a start by push waits for besides.
        func noteStart() {
            if record.replacement != nil { note(.replaced) }
            switch record.clearance {
            case .none, .granted: break
            case .asked: note(.startCount)
            case .deferred(let until): note(.startBudget, opensAt: until)
            }
        }
        switch record.flight?.phase {
        case .inFlight: note(.inFlight)
        case .waiting(holdsNewer: true): note(.retry)
        case .waiting, .lapsed, nil: break
        }
        let turn = turn(isUrgent: isUrgent)
        note(.turn, opensAt: turn == .min ? moment.nowMilliseconds : turn)
        if awaitsStore, turn <= moment.nowMilliseconds { note(record.startNote == .wanted ? .startNote : .numbers) }
        if record.target == nil, record.flight?.update.kind != .start {
            note(record.awaitsStartToken ? .userToken : .target)
        }
        if record.isStarting { noteStart() }
        note(.timestamp, opensAt: timestampOpens)
        if record.isEnding { return gates }
        if isUrgent {
            note(.urgentMinInterval, opensAt: urgentOpens)
        } else {
            note(.minInterval, opensAt: intervalOpens)
            note(.bucket, opensAt: bucketOpens)
        }
        return gates
    }
}
