import Flow
import Pacing
import Telemetry

extension World {
    mutating func apply(_ event: SimulatedEvent) throws(Broken) {
        concerned = event.isForSubject ? nil : event.name
        let moment = clocks.read()
        fireBefore(moment)
        let partition = event.isForSubject ? 0 : rides[event.name].partition
        let offset = offset(of: event, partition)
        let before = totals
        let record = Event(
            kind: event.kind, isForSubject: event.isForSubject, identifier: script.names[event.name],
            timestampMilliseconds: event.timestampMilliseconds, eventIdentifierHash: event.identifierHash,
            position: event.position, detail: event.detail)
        if event.nature == .truth {
            learn(event, nowMilliseconds: moment.pacing.nowMilliseconds)
        } else {
            meetNoise(event)
        }
        let faults = lane.apply(record, partition: partition, offset: offset, at: moment)
        if let fault = faults.faults.first {
            throw Broken(.pushIsGood, "a good record is a dead letter: \(fault)")
        }
        try checkDecision(of: event, before)
        hasNews = true
        let isWaiting = pending > before.reduce(0) { $0 + $1.pending }
        let concerned =
            event.isForSubject ? rides.indices.filter { rides[$0].truth.subject == event.name } : [event.name]
        for activity in concerned {
            if isWaiting { rides[activity].isHeld = true }
            note(
                activity,
                [Int64(event.kind.rawValue), offset, event.timestampMilliseconds, Int64(truncatingIfNeeded: pending)],
                "record \(offset): \(event.kind)\(event.nature == .truth ? "" : " (\(event.nature))") \(event.summary)")
        }
    }

    /// Timers that were due before a record's time fire before it.
    private mutating func fireBefore(_ moment: Moment) {
        guard let due = lane.nextPacingDueMilliseconds, due < moment.pacing.nowMilliseconds else { return }
        var earlier = moment
        earlier.pacing.nowMilliseconds -= 1
        earlier.pacing.wallMilliseconds -= 1
        lane.fire(at: earlier)
    }

    private mutating func offset(of event: SimulatedEvent, _ partition: Int32) -> Int64 {
        if event.isRedelivery, let offset = offsets[event.identifierHash] { return offset }
        let offset = nextOffset[Int(partition)]
        nextOffset[Int(partition)] += 1
        if offsets[event.identifierHash] == nil { offsets[event.identifierHash] = offset }
        return offset
    }

    private var totals: [DecisionCounts] { lane.eachShard.map(\.decisions) }

    private mutating func meetNoise(_ event: SimulatedEvent) {
        switch event.nature {
        case .truth: break
        case .replay: cover(event.isRedelivery ? .redelivered : .producedTwice, event.name)
        case .noise:
            let newest = rides[event.name].truth.positionTimestampMilliseconds
            cover(event.timestampMilliseconds < newest ? .late : .absurdPosition, event.name)
        }
    }

    private func checkDecision(of event: SimulatedEvent, _ before: [DecisionCounts]) throws(Broken) {
        guard event.nature != .truth else { return }
        let drops: [Decision] = [
            .afterEnd, .duplicate, .outOfOrder, .nullIsland, .inaccurate, .future, .tooOld, .implausible,
            .unknownActivity, .noFollower,
        ]
        for (earlier, now) in zip(before, totals) {
            let dropped = drops.reduce(0) { $0 + now[$1] - earlier[$1] }
            let held = event.nature == .noise ? Int64(now.pending) - Int64(earlier.pending) : 0
            let read = now.activityEvents - earlier.activityEvents
            // A position that is held aside takes the place of another one at most.
            if Int64(read) == Int64(dropped) + max(0, held) { continue }
            throw Broken(
                event.nature == .replay ? .replayChangesNothing : .noiseIsDropped,
                "\(event.kind) \(event.summary) was not dropped")
        }
    }
}

extension SimulatedEvent {
    /// For people.
    var summary: String {
        var parts: [String] = []
        if kind == .position {
            parts.append("\(position.coordinate.latitude), \(position.coordinate.longitude)")
        }
        for member in detail?.contentState?.members ?? [] {
            switch member.value {
            case .string(let text): parts.append("\(member.name)=\(text)")
            case .number(let number): parts.append("\(member.name)=\(number.text)")
            case .null: parts.append("\(member.name)=null")
            default: parts.append("\(member.name)=…")
            }
        }
        if detail?.alert != nil { parts.append("alert") }
        switch detail?.target ?? .none {
        case .updateToken: parts.append("update token")
        case .startToken: parts.append("start token")
        default: break
        }
        return parts.joined(separator: " ")
    }
}
