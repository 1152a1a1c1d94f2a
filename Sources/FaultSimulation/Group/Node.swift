import Flow
import LiveActivities
import Pacing

/// A process of a world: a member with its lane, its clocks, its links to the provider and its connection to the store.
final class Node {
    enum State: Equatable {
        case running
        /// Stopped by a signal: nothing of it runs, though its clock goes on.
        case paused(untilMilliseconds: Int64)
        case gone
    }

    /// When it is to die, without warning.
    enum Doom {
        case afterEffects(Int)
        case before(Effect, orAtMilliseconds: Int64)
        /// Soon after a start has left, while nobody knows yet whether there is a card.
        case onceAStartHasLeft
    }

    /// What it reads of one stream.
    struct Reading {
        var isUnderWay = false
        /// Up to where records were asked for, and applied.
        var askedOffset: Int64?
        var appliedOffset: Int64?
    }

    struct Batch {
        let source: Int
        let ticket: UInt64
        let records: ArraySlice<SharedLog.Record>
        /// Where the activities of the records were found.
        let places: [Shard.Place?]
    }

    /// A request to the store that was not answered so far.
    struct Ask {
        let identifier: UInt64
        let request: StoreRequest
        let madeAtMilliseconds: Int64
        /// What the store answered, once it has done it.
        var answer: StoreAnswer?
        /// Pushes whose settlement it writes, by activity, and what it knows of each partition's records.
        let settles: [(activity: Int, push: UInt64)]
        let knows: [(activity: Int, order: Int)]
    }

    let index: Int
    let name: String
    let lane: Lane
    let member: Member
    let firstLink: Int
    /// Each machine counts its monotonic time from somewhere else.
    let baseMilliseconds: Int64
    var clocks: Clocks
    var state = State.running
    var isStopping = false
    var doom: Doom?
    /// It freezes for so long as soon as it has handed over a push, which then waits in front of the wire.
    var freezesOnHandMilliseconds: Int64?
    /// It freezes for so long as soon as it has asked the store to save something, which arrives when it goes on.
    var freezesOnSaveMilliseconds: Int64?
    /// What it asked of the store is held up until then, in its own buffers or on the way.
    var heldUpUntilMilliseconds = Int64.min
    var lastEffect: Effect?
    var wakeMilliseconds: Int64?
    /// By partition, then by source; nil where it does not read.
    var readings: [[Reading]?]
    /// Under which it reads them.
    var epochs: [Epoch]
    /// Counts the times at which it began to read a partition.
    var turns: [Int]
    var batches: [[Batch]]
    /// In the order in which they were made.
    var asks: [Ask] = []
    /// A connection keeps the order of what is sent, and of what is answered.
    var newestDoneMilliseconds: Int64 = 0
    var newestHeardMilliseconds: Int64 = 0
    var resumedAtMilliseconds = Int64.min
    var group = GroupMembership()

    init(
        index: Int, lane: Lane, member: Member, name: String, firstLink: Int, baseMilliseconds: Int64, clocks: Clocks,
        partitions: Int
    ) {
        self.index = index
        self.lane = lane
        self.member = member
        self.name = name
        self.firstLink = firstLink
        self.baseMilliseconds = baseMilliseconds
        self.clocks = clocks
        readings = Array(repeating: nil, count: partitions)
        epochs = Array(repeating: 0, count: partitions)
        turns = Array(repeating: 0, count: partitions)
        batches = Array(repeating: [], count: partitions)
    }

    var isRunning: Bool { state == .running }

    func read(atMilliseconds now: Int64) -> Moment {
        clocks.advance(toMilliseconds: now)
        var moment = clocks.read()
        moment.realMilliseconds += baseMilliseconds
        return moment
    }
}
