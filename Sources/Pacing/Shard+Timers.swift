import Telemetry

extension Shard {
    func timerFired(_ index: UInt32, _ moment: Instant) {
        let state = state(index)
        if state.pointee.flags.contains(.ended) {
            if let removal = removalDue(index), removal <= moment.nowMilliseconds {
                if isUnknownToStore(index) {
                    giveUp(index)
                    markUnsaved(index)
                } else {
                    remove(index)
                }
                return
            }
        } else if let life = lifeDue(index), life <= moment.nowMilliseconds, !isFinishing {
            // First of all that is due: the final frame absorbs an update of the same instant.
            endLife(index, moment)
            return
        }
        if state.pointee.flags.contains(.waiting) {
            advanceGates(index, moment)
        } else if isFinishing || state.pointee.flags.contains(.ended) {
            advanceGates(index, moment)
        } else if state.pointee.flags.contains(.hasEventSinceSend) {
            evaluate(index, moment)
        } else {
            // Nothing has come since the last push. Where that was refused for good, time alone does not make it better; a retry whose gate
            // has opened goes on.
            advanceGates(index, moment)
        }
    }

    /// Whether the store would keep it for ever if it left memory now. It leaves once the store has heard that it is over.
    private func isUnknownToStore(_ index: UInt32) -> Bool {
        guard settings.keepsCheckpoints else { return false }
        let record = record(index)
        return record.isEnding || record.flight != nil || record[.isUnsaved]
    }

    /// Sets the activity's one timer. One that fires too early costs a look; so it is moved only where it would fire too late,
    /// and the usual case, a send that puts everything off, moves nothing.
    func rearm(_ index: UInt32, _ moment: Instant) {
        let due = due(index, moment)
        let armed = state(index).pointee.timerDueMilliseconds
        if due < armed {
            wheel.disarm(index, slab.states)
            wheel.arm(index, dueMilliseconds: due, slab.states)
        }
    }

    func due(_ index: UInt32, _ moment: Instant) -> Int64 {
        let state = state(index)
        let record = record(index)
        var due = record.gateOpensAtMilliseconds ?? .max
        if isFinishing { return due }
        if state.pointee.flags.contains(.ended) { return min(due, removalDue(index) ?? .max) }
        if let life = lifeDue(index) { due = min(due, life) }
        if !state.pointee.flags.contains(.waiting) {
            let quietUntil = state.pointee.quietUntilMilliseconds
            if quietUntil > moment.nowMilliseconds { due = min(due, quietUntil) }
            if let lastSent = record.lastSentAtMilliseconds {
                let stale = lastSent + rules(index).settings.staleAfterMilliseconds
                if stale > moment.nowMilliseconds { due = min(due, stale) }
            }
        }
        return due
    }

    private func lifeDue(_ index: UInt32) -> Int64? {
        guard let life = rules(index).settings.maxActivityLifeMilliseconds,
            let start = record(index).lifeStartMilliseconds
        else { return nil }
        return start + life
    }

    private func removalDue(_ index: UInt32) -> Int64? {
        let record = record(index)
        // An answer is on its way: it settles what it was sent for, and then the activity may go.
        if record.flight?.isInFlight == true { return nil }
        return record.lastOfEndMilliseconds + rules(index).settings.removeAfterMilliseconds
    }
}
