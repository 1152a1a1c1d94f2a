import Telemetry

extension History {
    /// In any window W at most burst + W / interval + W / (staleAfter − refreshLead) routine updates, and at most that + burst +
    /// W / urgentMinInterval in all, endings aside.
    func window() -> [BrokenPromise] {
        guard let cadence else { return [] }
        let updates = sends.filter { $0.event != "end" }
        let urgent = Set(urgencies().filter { $0.value != .routine }.keys)
        let routine = updates.filter { !urgent.contains($0.number) && $0.priority != 10 }
        func routineBound(_ windowMilliseconds: Int64) -> Double {
            Double(cadence.burst) + Double(windowMilliseconds) / Double(cadence.intervalMilliseconds)
                + Double(windowMilliseconds) / Double(settings.refreshAfterMilliseconds)
        }
        func totalBound(_ windowMilliseconds: Int64) -> Double {
            routineBound(windowMilliseconds) + Double(cadence.burst)
                + Double(windowMilliseconds) / Double(settings.urgentMinIntervalMilliseconds)
        }
        return overrun(of: routine, bound: routineBound, promise: .routineWindow, name: "routine updates")
            + overrun(of: updates, bound: totalBound, promise: .totalWindow, name: "updates")
    }

    /// The first window that holds too many: one finding tells all.
    private func overrun(
        of sends: [JournalEntry], bound: (Int64) -> Double, promise: BrokenPromise.Promise, name: String
    ) -> [BrokenPromise] {
        for last in sends.indices {
            for first in sends.indices[...last] {
                let window = sends[last].atMilliseconds - sends[first].atMilliseconds
                let count = last - first + 1
                guard Double(count) > bound(max(0, window) + settings.slackMilliseconds) else { continue }
                let allowed = Int(bound(max(0, window)))
                let text = "\(count) \(name) within \(window) ms since entry \(sends[first].number); at most \(allowed)"
                return [broken(promise, sends[last], text)]
            }
        }
        return []
    }

    enum Urgency { case routine, possiblyUrgent, urgent }

    /// By entry number: whether an update had an urgent reason, as far as the journal can tell.
    func urgencies() -> [Int: Urgency] {
        var urgencies: [Int: Urgency] = [:]
        // What the phone may have been told last, as the sender can know it: a lost answer leaves two possibilities.
        var told: [ContentState?] = [expected?.shownAtBegin]
        for entry in entries where entry.event != nil {
            let state = entry.contentState.map { ContentState($0) }
            let differing = state.map { state in told.count { differsDiscretely(state, from: $0) } } ?? 0
            if entry.event != "update" || entry.hasAlert || differing == told.count {
                urgencies[entry.number] = .urgent
            } else {
                urgencies[entry.number] = differing > 0 ? .possiblyUrgent : .routine
            }
            guard entry.isAccepted, let state else { continue }
            if entry.fate == .lost { told.append(state) } else { told = [state] }
        }
        return urgencies
    }

    private func differsDiscretely(_ state: ContentState, from told: ContentState?) -> Bool {
        settings.discreteFields.contains { state[$0] != told?[$0] }
    }

    func priorities() -> [BrokenPromise] {
        let urgencies = urgencies()
        var found: [BrokenPromise] = []
        for entry in entries where entry.event != nil {
            switch (entry.priority, urgencies[entry.number] ?? .routine) {
            case (10, .routine):
                found.append(broken(.priority, entry, "\(describe(entry)) has priority 10 and no urgent reason"))
            case (5, .urgent):
                if !canBeExhausted(before: entry) {
                    found.append(
                        broken(
                            .priority, entry,
                            "\(describe(entry)) is urgent and has priority 5 with a bucket not exhausted"))
                }
            case (5, _), (10, _): break
            case (let priority, _):
                let text = priority.map(String.init) ?? "none"
                found.append(broken(.priority, entry, "\(describe(entry)) has priority \(text); 5 or 10 is promised"))
            }
        }
        return found
    }

    /// Whether the sends before can have brought the bucket to −burst: from some moment at which it was full they took 2 × burst and all that
    /// was gained since.
    private func canBeExhausted(before entry: JournalEntry) -> Bool {
        guard let cadence else { return false }
        let earlier = sends.filter { $0.number < entry.number && $0.sequence != entry.sequence }
        return earlier.indices.contains { first in
            let window = entry.atMilliseconds - earlier[first].atMilliseconds - settings.slackMilliseconds
            let gained = max(0, window) / cadence.intervalMilliseconds
            return earlier.count - first >= 2 * cadence.burst + Int(gained)
        }
    }
}
