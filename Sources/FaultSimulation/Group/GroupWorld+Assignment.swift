import Flow
import Pacing

/// Worlds in which a coordinator spreads the partitions. What members do about it is what a process does: what the coordinator says is told
/// to its `Member`, and released when that is free of it.
extension GroupWorld {
    /// What a member says to the coordinator.
    enum Letter {
        case commit([GroupPosition], generation: Int)
        case release([Int])
        case leave
    }

    struct GroupPosition {
        let partition: Int
        let source: Int
        /// The first that is not settled.
        let next: Int64
    }

    /// How often members and coordinator look at each other.
    static let coordinatingMilliseconds: Int64 = 500

    // MARK: The coordinator

    mutating func coordinate() throws(Broken) {
        agenda.plan(.group(.coordinate), atMilliseconds: realMilliseconds + GroupWorld.coordinatingMilliseconds)
        let now = realMilliseconds
        let isUp = now >= coordinatorDownUntilMilliseconds
        if isUp, !wasCoordinatorUp { coordinator.comeBack(atMilliseconds: now) }
        wasCoordinatorUp = isUp
        for node in nodes where node.isRunning {
            if node.group.membership != nil, node.group.noticesSilence,
                now - node.group.contactAtMilliseconds > group.sessionMilliseconds
            {
                try loseGroup(node)
            }
            if node.isRunning, hasContact(node) { beat(node) }
            try judgeRelease(node)
        }
        if isUp {
            for (node, message) in coordinator.advance(toMilliseconds: now) {
                tell(message, nodes[node])
            }
        }
        for node in nodes where node.isRunning && hasContact(node) { commitIfDue(node) }
    }

    func hasContact(_ node: Node) -> Bool {
        realMilliseconds >= max(coordinatorDownUntilMilliseconds, node.group.cutOffUntilMilliseconds)
    }

    private mutating func beat(_ node: Node) {
        let now = realMilliseconds
        node.group.contactAtMilliseconds = now
        if let membership = node.group.membership {
            guard !coordinator.hear(node.index, membership, atMilliseconds: now), !node.group.isLossOnItsWay else {
                return
            }
            node.group.isLossOnItsWay = true
            tell(.lost, node)
        } else if !node.isStopping {
            let membership = takeIdentifier()
            node.group.membership = membership
            node.group.isLossOnItsWay = false
            coordinator.join(node.index, membership, atMilliseconds: now)
            note(nil, [50, Int64(node.index)], "\(node.name) joins the group")
        }
        // It may have waited for what is committed.
        if node.member.readPartitions.contains(where: { node.readings[Int($0)] == nil }) { touch(node) }
    }

    // MARK: The way there and back

    /// A connection keeps the order, each way.
    private mutating func arrival(_ node: Node, after newest: Int64) -> Int64 {
        let wait = random.between(group.coordinatorMilliseconds.lowerBound, group.coordinatorMilliseconds.upperBound)
        return max(newest, realMilliseconds + wait)
    }

    private mutating func tell(_ message: GroupCoordinator.Message, _ node: Node) {
        guard let membership = node.group.membership else { return }
        let at = arrival(node, after: node.group.inbox.last?.atMilliseconds ?? .min)
        node.group.inbox.append(
            GroupMembership.Told(
                message: message, membership: membership, generation: coordinator.generation, atMilliseconds: at))
        agenda.plan(.group(.told(node: node.index)), atMilliseconds: at)
    }

    /// All that has arrived is heard, once it can be.
    mutating func hear(_ node: Node) throws(Broken) {
        guard !isPut(off: .group(.told(node: node.index)), by: node) else { return }
        guard hasContact(node) else {
            agenda.plan(
                .group(.told(node: node.index)),
                atMilliseconds: max(coordinatorDownUntilMilliseconds, node.group.cutOffUntilMilliseconds))
            return
        }
        while node.isRunning, let told = node.group.inbox.first, told.atMilliseconds <= realMilliseconds {
            node.group.inbox.removeFirst()
            guard told.membership == node.group.membership else { continue }
            try hear(told.message, told.generation, node)
        }
    }

    private mutating func send(_ letter: Letter, _ node: Node) {
        guard let membership = node.group.membership else { return }
        node.group.newestLetterMilliseconds = arrival(node, after: node.group.newestLetterMilliseconds)
        agenda.plan(
            .group(.letter(node: node.index, membership: membership, letter)),
            atMilliseconds: node.group.newestLetterMilliseconds)
    }

    mutating func arrive(_ letter: Letter, _ node: Node, _ membership: UInt64) throws(Broken) {
        guard hasContact(node) else {
            // Nobody answers it: the member asks again, and what it had settled is committed with the next.
            if case .commit = letter { return }
            agenda.plan(
                .group(.letter(node: node.index, membership: membership, letter)),
                atMilliseconds: max(coordinatorDownUntilMilliseconds, node.group.cutOffUntilMilliseconds))
            return
        }
        switch letter {
        case .commit(let positions, let generation):
            guard coordinator.takesCommits(of: node.index, membership, generation: generation) else {
                note(nil, [51, Int64(node.index)], "the group takes no positions of \(node.name)")
                return
            }
            for position in positions {
                try referee.committed(position, before: coordinator.committed, store)
                coordinator.commit(partition: position.partition, source: position.source, next: position.next)
                node.group.committed[position.partition, default: [:]][position.source] = position.next
            }
        case .release(let partitions):
            coordinator.release(node.index, membership, partitions, atMilliseconds: realMilliseconds)
        case .leave: coordinator.leave(node.index, membership, atMilliseconds: realMilliseconds)
        }
    }

    // MARK: The member

    private mutating func hear(
        _ message: GroupCoordinator.Message, _ generation: Int, _ node: Node
    ) throws(Broken) {
        switch message {
        case .assigned(let partitions):
            if dies(node, before: .assigned) { return }
            node.group.generation = generation
            note(nil, [52, Int64(node.index)] + partitions.map(Int64.init), "\(node.name) is assigned \(partitions)")
            for partition in partitions {
                node.group.held.insert(partition)
                // What it knew when it had the partition before says nothing of those who had it since.
                node.group.settled[partition] = nil
                node.group.committed[partition] = nil
                node.member.assign(Int32(partition))
            }
        case .revoked(let partitions):
            if dies(node, before: .revoked) { return }
            note(
                nil, [53, Int64(node.index)] + partitions.map(Int64.init), "\(node.name) is to give back \(partitions)")
            node.group.wanted = node.group.held.intersection(partitions)
            node.group.wantedSinceMilliseconds = realMilliseconds
            let moment = node.read(atMilliseconds: realMilliseconds)
            for partition in node.group.wanted.sorted() { node.member.revoke(Int32(partition), at: moment) }
        case .lost: try loseGroup(node)
        }
        touch(node)
    }

    private mutating func loseGroup(_ node: Node) throws(Broken) {
        if dies(node, before: .lost) { return }
        note(nil, [54, Int64(node.index)], "\(node.name) has lost the group")
        let moment = node.read(atMilliseconds: realMilliseconds)
        for partition in node.group.held.sorted() { node.member.lose(Int32(partition), at: moment) }
        node.group.forget()
        touch(node)
    }

    /// Called between any two things that a member does.
    mutating func noteSettled(_ node: Node) {
        for partition in node.group.held {
            for source in 0..<group.sources {
                let progress = node.member.progress(partition: Int32(partition), source: source)
                var offset = progress.settled?.offset
                if defect == GroupCoordinator.defect { offset = progress.read?.offset }
                guard let offset else { continue }
                node.group.settled[partition, default: [:]][source] = offset + 1
            }
        }
    }

    mutating func letGoIfFree(_ node: Node) {
        let wanted = node.group.wanted
        guard !wanted.isEmpty, wanted.allSatisfy({ node.member.isFree(Int32($0)) }) else { return }
        if dies(node, before: .letGo) { return }
        note(
            nil, [55, Int64(node.index)] + wanted.sorted().map(Int64.init), "\(node.name) lets go of \(wanted.sorted())"
        )
        let positions = uncommitted(node, wanted)
        if !positions.isEmpty { send(.commit(positions, generation: node.group.generation), node) }
        send(.release(wanted.sorted()), node)
        node.group.held.subtract(wanted)
        node.group.wanted = []
    }

    /// Rests while the group waits for partitions of this member.
    private mutating func commitIfDue(_ node: Node) {
        guard node.group.membership != nil, node.group.wanted.isEmpty,
            realMilliseconds >= node.group.nextCommitMilliseconds
        else { return }
        node.group.nextCommitMilliseconds = realMilliseconds + group.commitMilliseconds
        let positions = uncommitted(node, node.group.held)
        guard !positions.isEmpty, !dies(node, before: .positionsTold) else { return }
        send(.commit(positions, generation: node.group.generation), node)
    }

    private func uncommitted(_ node: Node, _ partitions: Set<Int>) -> [GroupPosition] {
        var positions: [GroupPosition] = []
        for partition in partitions.sorted() {
            for (source, next) in (node.group.settled[partition] ?? [:]).sorted(by: { $0.key < $1.key })
            where node.group.committed[partition]?[source] != next {
                positions.append(GroupPosition(partition: partition, source: source, next: next))
            }
        }
        return positions
    }

    mutating func leaveGroup(_ node: Node) { send(.leave, node) }

    /// Where the store has no position of a stream, reading begins where the group left off.
    ///
    /// - Returns: whether that is known.
    mutating func beginAtCommitted(_ node: Node, _ partition: Int) -> Bool {
        guard group.isAssigned else { return true }
        let unknown = (0..<group.sources).filter {
            node.member.readAfter(partition: Int32(partition), source: $0) == nil
        }
        guard !unknown.isEmpty else { return true }
        guard hasContact(node) else { return false }
        for source in unknown {
            guard let next = coordinator.committed[partition][source] else { continue }
            skipped.insert(partition)
            node.member.begin(
                partition: Int32(partition), source: source,
                after: SettledPosition(
                    offset: next - 1, records: Int64(log.count(partition: partition, source: source, through: next - 1))
                ))
        }
        return true
    }

    // MARK: What must hold

    /// Pushes under way are waited for; what is left to write then has the time of a lease, and the lease ends by itself: no longer, whatever
    /// the store does.
    private func judgeRelease(_ node: Node) throws(Broken) {
        guard !node.group.wanted.isEmpty else { return }
        let since = max(node.group.wantedSinceMilliseconds, node.resumedAtMilliseconds)
        let bound = group.drainTimeoutMilliseconds + 2 * group.leaseMilliseconds + GroupWorld.timeoutMilliseconds
        guard realMilliseconds - since > bound else { return }
        throw Broken(
            .letsGo,
            "\(node.name) was told \(realMilliseconds - since) ms ago to give back \(node.group.wanted.sorted()), and has not"
        )
    }
}
