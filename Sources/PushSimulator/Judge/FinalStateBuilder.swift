import Telemetry

/// Merges events into final states, as simply as that can be done: no cadence, no deadband, no fate of any push.
public struct FinalStateBuilder: Sendable {
    public private(set) var finalStates: [String: FinalState] = [:]

    /// Nil believes every event that it is given, but for the order of positions.
    private let rules: SanityRules?
    /// What is kept of an activity beside its final state.
    fileprivate struct Memory: Sendable {
        var filter: PositionFilter
        var eventHashes: [UInt64] = []
        /// Top-level fields that something else than a position has set.
        var statusFields: Set<String> = []
    }

    private var memories: [String: Memory] = [:]
    private var followers: [String: [String]] = [:]
    private var subjectFixes: [String: PositionFilter.Fix] = [:]
    private var hasEarlyToken: Set<String> = []

    public init(rules: SanityRules? = SanityRules()) {
        self.rules = rules
    }

    /// Of a content-state (the events' rules).
    private static let maxContentBytes = 4_096

    /// - Parameter nowMilliseconds: the record's time, by which a position is too old or in the future.
    public mutating func apply(_ event: borrowing Event, nowMilliseconds: Int64) {
        let identifier = String(decoding: event.identifier, as: UTF8.self)
        if event.kind == .activityStarted, !event.isForSubject {
            start(identifier, event)
            return
        }
        for activity in event.isForSubject ? followers[identifier] ?? [] : [identifier] {
            change(activity, event, nowMilliseconds: nowMilliseconds)
        }
        if event.isForSubject, event.kind == .position { remember(identifier, event, nowMilliseconds: nowMilliseconds) }
    }

    private mutating func start(_ activity: String, _ event: borrowing Event) {
        var state = finalStates[activity] ?? FinalState()
        if state.ending != nil {
            state = FinalState()
            memories[activity] = nil
        }
        let isRepeated = finalStates[activity] != nil && memories[activity] != nil
        let detail = event.detail
        let subject = detail?.follows
        let fix = subject.flatMap { subjectFixes[$0] }
        var memory = memories[activity] ?? Memory(filter: PositionFilter(rules: rules, startingAt: fix))
        guard memory.isNew(event) else { return }
        merge(detail?.contentState, into: &state, memory: &memory, isPosition: false)
        switch detail?.target {
        case .updateToken?, .channel?:
            state.hasTarget = true
            // A start that comes again changes nothing that the phone shows.
            if !isRepeated { state.shownAtBegin = state.contentState }
        case .startToken?, .user?: state.hasTarget = true
        default: if hasEarlyToken.contains(activity) { state.hasTarget = true }
        }
        state.isFrequent = state.isFrequent || detail?.frequentUpdates == true
        state.beganAtMilliseconds = state.beganAtMilliseconds ?? event.timestampMilliseconds
        if let subject, !isRepeated {
            followers[subject, default: []].append(activity)
            state.position = fix?.coordinate
        }
        finalStates[activity] = state
        memories[activity] = memory
    }

    private mutating func change(_ activity: String, _ event: borrowing Event, nowMilliseconds: Int64) {
        guard finalStates[activity] != nil || event.kind == .position || event.kind == .status else {
            // Nothing began it: a token waits for its start, an end is nobody's.
            if event.kind == .token { hasEarlyToken.insert(activity) }
            return
        }
        var state = finalStates[activity] ?? FinalState()
        var memory = memories[activity] ?? Memory(filter: PositionFilter(rules: rules))
        if finalStates[activity] == nil { state.hasTarget = hasEarlyToken.contains(activity) }
        guard state.ending == nil, memory.isNew(event) else { return }
        state.beganAtMilliseconds = state.beganAtMilliseconds ?? nowMilliseconds
        if event.kind == .position {
            let fixes = memory.filter.take(PositionFilter.Fix(event), nowMilliseconds: nowMilliseconds)
            // What begins nothing leaves no trace.
            if fixes.isEmpty, finalStates[activity] == nil { return }
            for fix in fixes {
                state.position = fix.coordinate
                merge(fix.contentState, into: &state, memory: &memory, isPosition: true)
            }
        } else {
            merge(event.detail?.contentState, into: &state, memory: &memory, isPosition: false)
            if event.kind == .token { state.hasTarget = true }
            state.isFrequent = state.isFrequent || event.detail?.frequentUpdates == true
            if event.kind == .activityEnded { state.ending = FinalState.Ending(event.detail?.dismissal) }
        }
        finalStates[activity] = state
        memories[activity] = memory
    }

    private mutating func remember(_ subject: String, _ event: borrowing Event, nowMilliseconds: Int64) {
        let fix = PositionFilter.Fix(event)
        let isUsable = rules.map { PositionFilter.isUsable(fix, rules: $0, nowMilliseconds: nowMilliseconds) } ?? true
        guard isUsable, fix.timestampMilliseconds > subjectFixes[subject]?.timestampMilliseconds ?? .min else { return }
        subjectFixes[subject] = fix
    }

    private func merge(_ patch: JSONObject?, into state: inout FinalState, memory: inout Memory, isPosition: Bool) {
        guard let patch else { return }
        var merged = state.contentState
        merged.apply(patch)
        // Larger ones are dead letters.
        guard merged.byteCount <= FinalStateBuilder.maxContentBytes else { return }
        state.contentState = merged
        let names = patch.members.map(\.name)
        guard isPosition else {
            memory.statusFields.formUnion(names)
            state.rideAlongFields.removeAll { names.contains($0.names[0]) }
            return
        }
        for name in names where !memory.statusFields.contains(name) {
            let path = FieldPath(names: [name])
            if !state.rideAlongFields.contains(path) { state.rideAlongFields.append(path) }
        }
    }
}

extension FinalStateBuilder.Memory {
    /// Whether the producer's id is not among the last 16; remembers it.
    fileprivate mutating func isNew(_ event: borrowing Event) -> Bool {
        guard event.eventIdentifierHash != 0 else { return true }
        guard !eventHashes.contains(event.eventIdentifierHash) else { return false }
        eventHashes.append(event.eventIdentifierHash)
        if eventHashes.count > 16 { eventHashes.removeFirst() }
        return true
    }
}

extension PositionFilter.Fix {
    init(_ event: borrowing Event) {
        self.init(
            coordinate: event.position.coordinate, timestampMilliseconds: event.timestampMilliseconds,
            accuracyMeters: event.position.accuracyMeters, contentState: event.detail?.contentState)
    }
}

extension FinalState.Ending {
    init(_ dismissal: Dismissal?) {
        switch dismissal {
        case .immediate?: self = .immediate
        case .at(let milliseconds)?: self = .at(milliseconds: milliseconds)
        case nil: self = .plain
        }
    }
}
