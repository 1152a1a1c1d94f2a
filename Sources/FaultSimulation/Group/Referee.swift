import Flow
import LiveActivities
import Pacing
import Telemetry

/// The judge of what members of a group do beside and after one another. It sees what leaves, what the store was made to write and what the
/// provider took, and knows nothing of how members come to it.
struct Referee {
    /// The newest push of an activity that left.
    private struct Newest {
        let push: UInt64
        let sequence: UInt64
        let node: Int
        /// Pushes before it that could not be saved, for the store took no writes.
        let unsavedBefore: Int
        /// Its answer was heard and is final; the checkpoint that says so is written.
        var isSettled = false
        var isSaved = false
    }

    /// Of a card that a push has to begin.
    private enum Start {
        case none
        /// It has not left; a checkpoint may say that it is about to.
        case due(isWritten: Bool)
        /// Its owner ended when it may have been about to leave: it is not repeated blindly.
        case excused
        case left
    }

    private struct Taken {
        let sequence: UInt64
        let event: String
        let contentState: ContentState
        let token: PushToken?
        let alert: Alert?
    }

    /// The truth about each activity after each record that changed it, by the record's order; first that of an unknown one.
    private var views: [[(order: Int, truth: Truth)]]
    /// By activity: all records before that order are known to whoever loads its checkpoint.
    private var savedOrders: [Int]
    private var newest: [Newest?]
    private var taken: [Taken?]
    private var starts: [Start]
    private var startsTaken: Set<PushToken> = []
    private var endsTaken: Set<PushToken> = []
    /// Pushes that told a phone nothing new, and how many may be owed to owners that ended.
    private var repeats: [Int]
    private var repeatsAllowed: [Int]
    /// By activity, owners since the one that told it last: each may tell again what it cannot know to be the newest that was told.
    private var doubts: [Int]
    private var epochs: [Epoch]
    private var positions: [[SettledPosition?]]
    private var ownerBefore: (isKnown: Bool, hasReleased: Bool) = (false, false)
    private let knowsOrder: Bool
    /// The store has lost writes that it had answered.
    var hasLostWrites = false

    init(scenario: Scenario, group: GroupScenario) {
        let activities = scenario.activities
        views = Array(repeating: [(-1, Truth())], count: activities)
        savedOrders = Array(repeating: 0, count: activities)
        newest = Array(repeating: nil, count: activities)
        taken = Array(repeating: nil, count: activities)
        starts = Array(repeating: .none, count: activities)
        repeats = Array(repeating: 0, count: activities)
        repeatsAllowed = Array(repeating: 0, count: activities)
        doubts = Array(repeating: 0, count: activities)
        epochs = Array(repeating: 0, count: group.partitions)
        positions = Array(repeating: Array(repeating: nil, count: group.sources), count: group.partitions)
        knowsOrder = !group.splitsKinds
    }

    // MARK: What is published

    mutating func learn(_ truth: Truth, _ activity: Int, order: Int) {
        if let token = truth.startToken {
            if views[activity].last?.truth.startToken != token { starts[activity] = .due(isWritten: false) }
        } else {
            starts[activity] = .none
        }
        views[activity].append((order, truth))
    }

    func lacksStart(_ activity: Int) -> Bool { if case .due = starts[activity] { true } else { false } }

    func savedOrder(_ activity: Int) -> Int { savedOrders[activity] }

    /// What an owner may take for the truth that knows all records before `order`.
    private func views(_ activity: Int, from order: Int) -> some Collection<Truth> {
        let all = views[activity]
        let first = all.lastIndex { $0.order < order } ?? 0
        return all[first...].lazy.map(\.truth)
    }

    // MARK: What leaves

    mutating func left(
        _ request: Request, _ push: GroupWorld.Push, _ identifier: UInt64, _ ride: inout Ride, storeRefuses: Bool
    ) throws(Broken) {
        let activity = request.activity
        let update = request.dispatch.update
        let before = newest[activity].flatMap { $0.isSaved ? nil : $0 }
        let isOneMore = storeRefuses && before.map { $0.sequence != update.sequence } ?? false
        defer {
            newest[activity] = Newest(
                push: identifier, sequence: update.sequence, node: push.node,
                unsavedBefore: (before?.unsavedBefore ?? 0) + (isOneMore ? 1 : 0))
        }
        if update.kind == .start { starts[activity] = .left }
        guard !hasLostWrites else { return }
        if push.epoch < epochs[Int(push.partition)] {
            throw Broken(
                .oneOwnerSends,
                "\(update.kind) \(update.sequence) leaves from owner \(push.epoch) of partition \(push.partition), which \(epochs[Int(push.partition)]) has claimed"
            )
        }
        try countRepeat(update, request.payload, activity)
        let instant = Instant(milliseconds: push.takenAtUnixMilliseconds)
        let broken =
            knowsOrder
            ? ride.ledger.take(
                update, request.payload, views(activity, from: push.knownOrder), leaves: true, instant)
            : ride.ledger.takeUnseen(update, request.payload, leaves: true, instant)
        if let broken { throw broken }
    }

    /// A push that tells nothing new is owed to an owner that ended before it could write what became of the same one.
    private mutating func countRepeat(_ update: Update, _ payload: Payload, _ activity: Int) throws(Broken) {
        guard update.attempt == 1, !update.reasons.contains(.refresh), let last = taken[activity],
            // What left since, whatever became of it, may have changed what the phone shows.
            newest[activity]?.sequence == last.sequence, last.event == payload.event,
            last.token == update.target.deviceToken,
            update.alert == nil || update.alert == last.alert, last.contentState.isSame(as: payload.contentState)
        else { return }
        if update.reasons.contains(.retarget), doubts[activity] > 0 {
            doubts[activity] = 0
            return
        }
        repeats[activity] += 1
        if repeats[activity] > repeatsAllowed[activity] {
            throw Broken(
                .replayChangesNothing,
                "\(update.kind) \(update.sequence) tells what the phone was told before: \(update.reasons.names.joined(separator: ", "))"
            )
        }
    }

    mutating func taken(_ request: Request, _ ride: Ride) throws(Broken) {
        let update = request.dispatch.update
        taken[request.activity] = Taken(
            sequence: update.sequence, event: request.payload.event, contentState: request.payload.contentState,
            token: update.target.deviceToken, alert: update.alert ?? taken[request.activity]?.alert)
        guard let token = update.target.deviceToken else { return }
        if update.kind == .end { endsTaken.insert(token) }
        guard update.kind == .start, !hasLostWrites else { return }
        if !startsTaken.insert(token).inserted {
            throw Broken(.oneCard, "start \(update.sequence) is the second that the provider takes for one life")
        }
    }

    mutating func answered(_ identifier: UInt64, _ completion: Completion, _ activity: Int) {
        switch completion.fate {
        case .refused, .targetGone, .startUnknown:
            // It was taken, the sender never heard of it, and when asked again the provider said something else.
            if taken[activity]?.sequence == completion.update.sequence { repeatsAllowed[activity] += 1 }
        default: break
        }
        guard newest[activity]?.push == identifier else { return }
        switch completion.fate {
        case .accepted, .refused, .targetGone, .startUnknown: newest[activity]?.isSettled = true
        case .held, .sendAgain, .unsent, .orphaned: break
        }
    }

    /// What the provider took last for that token of an activity, as the phone's app would show it.
    func told(_ activity: Int, _ token: PushToken) -> ContentState? {
        taken[activity].flatMap { $0.token == token ? $0.contentState : nil }
    }

    /// A card that has ended stays so, whatever comes after it.
    func hasTakenEnd(_ token: PushToken) -> Bool { endsTaken.contains(token) }

    // MARK: What is written

    func settled(by request: StoreRequest, of node: Int, _ names: Names) -> [(activity: Int, push: UInt64)] {
        guard case .save(_, _, let batch) = request else { return [] }
        return batch.activities(names).compactMap { activity in
            guard let newest = newest[activity], newest.isSettled, newest.node == node else { return nil }
            return (activity, newest.push)
        }
    }

    mutating func willDo(_ request: StoreRequest, _ store: SharedStore) {
        guard case .claim(let partition) = request else { return }
        let state = store.partitions[Int(partition)]
        ownerBefore = (state.epoch > 0, state.wasReleased)
    }

    mutating func done(
        _ ask: Node.Ask, _ answer: StoreAnswer, _ store: SharedStore, _ log: SharedLog, _ rides: inout [Ride],
        atUnixMilliseconds now: Int64
    ) throws(Broken) {
        guard !hasLostWrites else { return }
        switch (ask.request, answer) {
        case (.claim(let partition), .claimed(let claim)):
            epochs[Int(partition)] = claim.epoch
            guard ownerBefore.isKnown else { return }
            for activity in rides.indices where rides[activity].partition == partition {
                doubts[activity] += 1
                if case .due(isWritten: true) = starts[activity] { starts[activity] = .excused }
                guard let push = newest[activity], !push.isSaved else { continue }
                newest[activity]?.isSaved = true
                repeatsAllowed[activity] += 1
                if !ownerBefore.hasReleased {
                    rides[activity].ledger.forgiveNewest(1 + push.unsavedBefore, atMilliseconds: now)
                }
            }
        case (.save(let partition, let epoch, let batch), .saved):
            if epoch < epochs[Int(partition)] {
                throw Broken(
                    .oneOwnerWrites,
                    "owner \(epoch) of partition \(partition) writes, which \(epochs[Int(partition)]) has claimed")
            }
            // One that was held up writes nothing any more.
            guard batch.serial == store.partitions[Int(partition)].serial else { return }
            for (activity, push) in ask.settles where newest[activity]?.push == push {
                newest[activity]?.isSaved = true
            }
            for (activity, order) in ask.knows {
                savedOrders[activity] = max(savedOrders[activity], order)
                if case .due = starts[activity] { starts[activity] = .due(isWritten: true) }
            }
            try move(batch.positions, Int(partition), log)
        default: break
        }
        try checkPositions(store)
    }

    private mutating func move(_ moved: [SettledPosition?], _ partition: Int, _ log: SharedLog) throws(Broken) {
        for (source, position) in moved.enumerated() {
            guard let position else { continue }
            if let before = positions[partition][source], position.offset < before.offset {
                throw Broken(.positionsRise, "stream \(partition)/\(source) was settled further than is written now")
            }
            if position.offset > log.end(partition: partition, source: source) ?? .min {
                throw Broken(.positionsRise, "stream \(partition)/\(source) is settled beyond its end")
            }
            let records = log.count(partition: partition, source: source, through: position.offset)
            if position.records != records {
                throw Broken(
                    .positionsRise,
                    "\(records) records of stream \(partition)/\(source) are settled, \(position.records) were counted")
            }
            positions[partition][source] = position
        }
    }

    /// Nobody but the newest owner moved them.
    private func checkPositions(_ store: SharedStore) throws(Broken) {
        for partition in positions.indices where store.partitions[partition].positions != positions[partition] {
            throw Broken(.oneOwnerWrites, "the positions of partition \(partition) were moved by no owner")
        }
    }

    /// The group is told what the store has, and no less than before.
    func committed(
        _ position: GroupWorld.GroupPosition, before: [[Int64?]], _ store: SharedStore
    ) throws(Broken) {
        guard !hasLostWrites else { return }
        let stream = "\(position.partition)/\(position.source)"
        let kept = store.partitions[position.partition].positions[position.source]?.offset
        if kept.map({ position.next > $0 + 1 }) ?? true {
            throw Broken(.groupFollowsStore, "stream \(stream) is committed further than the store keeps")
        }
        if let former = before[position.partition][position.source], position.next < former {
            throw Broken(.positionsRise, "stream \(stream) was committed further than it is now")
        }
    }

    // MARK: What always holds

    func check(_ lane: Lane, _ group: GroupScenario) throws(Broken) {
        for shard in lane.eachShard {
            let decisions = shard.decisions
            if decisions.activityEvents != decisions.decided + decisions.pending {
                throw Broken(
                    .everyEventIsAccounted,
                    "\(decisions.activityEvents) read, \(decisions.decided) decided, \(decisions.pending) pending")
            }
        }
    }
}

extension ContentState {
    /// Without what counts the pushes.
    fileprivate func isSame(as other: ContentState) -> Bool {
        var isSame = true
        forEachDifference(from: other) { path, _, _ in if path != FieldPath("sequenceNumber") { isSame = false } }
        return isSame
    }
}
