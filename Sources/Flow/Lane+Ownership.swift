import Pacing

/// Whether pushes of a partition may leave, and who owns it.
struct Standing {
    let partition: Int32
    var epoch: Epoch = 0
    /// On the real clock: from then on somebody else may own the partition. A recording has no other owner.
    var sendsUntilMilliseconds = Int64.max
    /// Only what is urgent leaves; the rest is left to the next owner.
    var isDraining = false
    /// The owner before may have told phones of events that were not applied here yet: until they are, nothing leaves.
    var isCatchingUp = false
    var incarnation: UInt32 = 0
    var inFlight = 0

    init(partition: Int32) {
        self.partition = partition
    }

    func maySend(at realMilliseconds: Int64) -> Bool {
        realMilliseconds < sendsUntilMilliseconds && !isCatchingUp
    }
}

/// Partitions that come and go.
extension Lane {
    /// So long a retry waits whose partition may not send at the moment.
    private static let fencedRetryMilliseconds: Int64 = 50

    func own(_ partition: Int32, epoch: Epoch, sendsUntilMilliseconds: Int64) -> Shard {
        let index = shard(of: partition)
        standings[index].epoch = epoch
        standings[index].sendsUntilMilliseconds = sendsUntilMilliseconds
        standings[index].isDraining = false
        standings[index].isCatchingUp = true
        permitChanges += 1
        return shards[index]
    }

    /// The same owner goes on under another epoch.
    func changeEpoch(_ partition: Int32, to epoch: Epoch) {
        standings[shard(of: partition)].epoch = epoch
        permitChanges += 1
    }

    func noteCaughtUp(_ partition: Int32, spreadMilliseconds: Int64, at moment: Moment) {
        let index = shard(of: partition)
        standings[index].isCatchingUp = false
        shards[index].noteCaughtUp(spreadMilliseconds: spreadMilliseconds, at: moment.pacing)
        hasNews = true
        hasUrgentNews = true
    }

    func extend(_ partition: Int32, sendsUntilMilliseconds: Int64) {
        let index = shard(of: partition)
        standings[index].sendsUntilMilliseconds = sendsUntilMilliseconds
        permitChanges += 1
        hasNews = true
    }

    /// The store has answered: something of the partition may leave now.
    func noteReady(_ partition: Int32) {
        let shard = shards[shard(of: partition)]
        guard !shard.newlyReady.isEmpty else { return }
        hasNews = true
        if shard.newlyReady.contains(.urgent) { hasUrgentNews = true }
        shard.newlyReady = []
    }

    func drain(_ partition: Int32) {
        standings[shard(of: partition)].isDraining = true
    }

    /// Nothing of the partition leaves any more, whatever the time.
    func fence(_ partition: Int32) {
        standings[shard(of: partition)].sendsUntilMilliseconds = .min
        permitChanges += 1
    }

    /// Forgets all of the partition. Answers that are still to come change nothing.
    func drop(_ partition: Int32) {
        let index = shard(of: partition)
        formerDecisions.add(former: shards[index].decisions)
        handedOverEvents += shards[index].decisions.pending
        formerEvictions += shards[index].evictions
        shards[index] = Shard(settings: settings.shard)
        let before = standings[index]
        standings[index] = Standing(partition: partition)
        standings[index].incarnation = before.incarnation + 1
        permitChanges += 1
        standings[index].sendsUntilMilliseconds = .min
        for pool in pools.indices { pools[pool].retries.removeAll(ofShard: index) }
        registry.removeAll(ofShard: index)
        if !throttles.isEmpty { throttles = throttles.filter { $0.value.shard != index } }
    }

    /// Whether updates of the partition are on their way, or something urgent could leave now but for a stream.
    func isUnderWay(_ partition: Int32, at moment: Moment) -> Bool {
        let index = shard(of: partition)
        if standings[index].inFlight > 0 { return true }
        guard standings[index].maySend(at: moment.realMilliseconds) else { return false }
        for pool in pools.indices {
            guard let ready = shards[index].ready(pool: pool), ready.isUrgent else { continue }
            if pools[pool].breaker.permits(atMilliseconds: moment.realMilliseconds) { return true }
        }
        return false
    }

    /// - Returns: whether the retry may leave now. One of a partition that may not send waits on; one that is left to the next owner is
    ///   forgotten here, for its content is still pending there.
    func mayLeave(_ waiting: RetryQueue.Waiting, pool: Int, at moment: Moment) -> Bool {
        let standing = standings[waiting.shard]
        if standing.maySend(at: moment.realMilliseconds) { return waiting.isUrgent || !standing.isDraining }
        guard !standing.isDraining, standing.sendsUntilMilliseconds > .min else { return false }
        pools[pool].retries.add(
            RetryQueue.Waiting(
                ticket: waiting.ticket, shard: waiting.shard, isUrgent: waiting.isUrgent, tries: waiting.tries,
                notBeforeMilliseconds: moment.realMilliseconds + Lane.fencedRetryMilliseconds, order: waiting.order))
        return false
    }

    /// Whether what is in memory of a partition is what its phones are told: it is owned, the lease has not lapsed, and all was applied that
    /// an owner before may have told.
    public func speaks(for partition: Int32, at realMilliseconds: Int64) -> Bool {
        knownShard(of: partition).map { standings[$0].maySend(at: realMilliseconds) } ?? false
    }

    /// Under which ownership pushes of a partition may leave, and until when on the real clock.
    public func permit(of partition: Int32) -> (epoch: Epoch, untilMilliseconds: Int64) {
        guard let index = knownShard(of: partition) else { return (0, .min) }
        return (standings[index].epoch, standings[index].sendsUntilMilliseconds)
    }

    /// Whether a push of that epoch may leave now: to be asked at the last moment before it does.
    public func maySend(partition: Int32, epoch: Epoch, at realMilliseconds: Int64) -> Bool {
        let standing = standings[shard(of: partition)]
        #if PLANTED_DEFECTS
            if settings.shard.plantedDefect == .dispatchNotFenced { return true }
        #endif
        return standing.epoch == epoch && realMilliseconds < standing.sendsUntilMilliseconds
    }
}
