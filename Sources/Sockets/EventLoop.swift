import CLinux
import Glibc

/// One thread's epoll: descriptors, timers, and a mailbox for other threads.
///
/// Owned and run by the thread that creates it. A turn waits for events, serves descriptors, then timers, then the mailbox, and last calls
/// whoever asked for the end of the turn: connections write there, so that everything of one turn leaves together.
public final class EventLoop {
    public let mailbox: LoopMailbox
    /// Milliseconds of the monotonic clock, read once a turn.
    public private(set) var nowMilliseconds: Int64
    var timers = TimerHeap()

    private let epoll: Int32
    private let events: UnsafeMutableBufferPointer<epoll_event>
    private var slots: [EventSource?] = []
    /// Counts a slot's uses, so that an event of a descriptor that was removed in the same turn finds nobody.
    private var generations: [UInt32] = []
    private var freeSlots: [Int] = []
    private var atEndOfTurn: [EventSource] = []
    private var resumed: [EventSource] = []
    private var wakeHandlers: [() -> Void] = []
    private var isStopping = false

    private static let mailboxMark = UInt64.max

    /// Readable for `poll` and `epoll` when a turn would find something ready: a descriptor, or a word from another thread.
    ///
    /// For a thread that waits in a poll of its own. It waits no longer than `nextTurnMilliseconds` and then calls
    /// `runOnce(timeoutMilliseconds: 0)`; nobody else reads from the descriptor.
    package var pollDescriptor: Int32 { epoll }

    /// When the next turn is due even if no descriptor is ready: the next timer; `Int64.min` for at once, because something was
    /// asked for since the last turn; nil for never. On the clock of `nowMilliseconds`.
    package var nextTurnMilliseconds: Int64? {
        if !atEndOfTurn.isEmpty || !resumed.isEmpty { return .min }
        return timers.earliestMilliseconds
    }

    /// Also has the process ignore SIGPIPE: a socket closed by its peer is an error code, not an end.
    public init() throws(SystemFault) {
        signal(SIGPIPE, SIG_IGN)
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw SystemFault(call: "epoll_create1") }
        events = .allocate(capacity: 256)
        nowMilliseconds = Self.currentMilliseconds()
        do {
            mailbox = try LoopMailbox()
        } catch {
            events.deallocate()
            Glibc.close(epoll)
            throw error
        }
        var event = epoll_event()
        event.events = EPOLLIN.rawValue
        event.data.u64 = Self.mailboxMark
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, mailbox.descriptor, &event) == 0 else {
            throw SystemFault(call: "epoll_ctl")
        }
    }

    deinit {
        events.deallocate()
        Glibc.close(epoll)
    }

    /// Milliseconds of the monotonic clock, read now.
    public static func currentMilliseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    // MARK: Running

    /// Turns until `stop()`.
    public func run() {
        while !isStopping { runOnce() }
        isStopping = false
    }

    /// One turn. Waits for an event or a timer, at most `timeoutMilliseconds` (-1: however long).
    public func runOnce(timeoutMilliseconds: Int32 = -1) {
        // What was asked for between turns is done first, and then the caller may want to look before this waits.
        let limit = atEndOfTurn.isEmpty ? timeoutMilliseconds : 0
        finishTurn()
        nowMilliseconds = Self.currentMilliseconds()
        let count = epoll_wait(epoll, events.baseAddress, Int32(events.count), waitMilliseconds(atMost: limit))
        nowMilliseconds = Self.currentMilliseconds()
        resumeSources()
        var isMailboxReady = false
        for index in 0..<max(0, Int(count)) {
            let mark = events[index].data.u64
            if mark == Self.mailboxMark {
                isMailboxReady = true
            } else {
                let slot = Int(truncatingIfNeeded: mark & 0xffff_ffff)
                guard generations[slot] == UInt32(truncatingIfNeeded: mark >> 32), let source = slots[slot] else {
                    continue
                }
                source.ready(ReadyEvents(rawValue: events[index].events))
            }
        }
        for timer in timers.takeDue(nowMilliseconds: nowMilliseconds) where timers.confirm(timer) { timer.handler() }
        if isMailboxReady { openMailbox() }
        finishTurn()
    }

    /// Ends `run()` after the present turn. From another thread: `mailbox.stop()`.
    public func stop() { isStopping = true }

    private func waitMilliseconds(atMost limit: Int32) -> Int32 {
        if isStopping || !resumed.isEmpty { return 0 }
        guard let earliest = timers.earliestMilliseconds else { return limit }
        let wait = Int32(clamping: max(0, earliest - nowMilliseconds))
        return limit < 0 ? wait : min(wait, limit)
    }

    private func openMailbox() {
        let work = mailbox.collect()
        for item in work { item(self) }
        for handler in wakeHandlers { handler() }
    }

    /// Whoever is called here may ask for another call: those follow in the same turn, until nobody asks.
    private func finishTurn() {
        while !atEndOfTurn.isEmpty {
            let sources = atEndOfTurn
            atEndOfTurn.removeAll(keepingCapacity: true)
            for source in sources {
                source.waitsForEndOfTurn = false
                source.endOfTurn()
            }
        }
    }

    private func resumeSources() {
        guard !resumed.isEmpty else { return }
        let sources = resumed
        resumed.removeAll(keepingCapacity: true)
        for source in sources {
            source.waitsForResumption = false
            if case .slot = source.registration { source.ready(.readable) }
        }
    }

    // MARK: Asking to be called

    /// Calls `handler` after each `mailbox.wake()` or `submit`, on this thread. For hand-overs through a queue of the caller's own.
    public func onWake(_ handler: @escaping () -> Void) { wakeHandlers.append(handler) }

    /// A timer, not yet set.
    public func timer(_ handler: @escaping () -> Void) -> LoopTimer { LoopTimer(loop: self, handler: handler) }

    /// Calls `source.endOfTurn()` once, when this turn has served everything else.
    public func callAtEndOfTurn(_ source: EventSource) {
        guard !source.waitsForEndOfTurn else { return }
        source.waitsForEndOfTurn = true
        atEndOfTurn.append(source)
    }

    /// Calls `source.ready(.readable)` again next turn: for an edge-triggered source that left data unread to let others go first.
    package func resumeNextTurn(_ source: EventSource) {
        guard !source.waitsForResumption else { return }
        source.waitsForResumption = true
        resumed.append(source)
    }

    // MARK: Descriptors

    /// Watches a descriptor. The loop keeps the source until `remove`.
    public func add(_ source: EventSource, fileDescriptor: Int32, events: ReadyEvents) throws(SystemFault) {
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
        } else {
            slot = slots.count
            slots.append(nil)
            generations.append(0)
        }
        var event = epoll_event()
        event.events = events.rawValue
        event.data.u64 = UInt64(generations[slot]) << 32 | UInt64(slot)
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, fileDescriptor, &event) == 0 else {
            let fault = SystemFault(call: "epoll_ctl")
            freeSlots.append(slot)
            throw fault
        }
        slots[slot] = source
        source.registration = .slot(slot, fileDescriptor: fileDescriptor)
    }

    /// Watches for other events from now on.
    public func change(_ source: EventSource, events: ReadyEvents) {
        guard case .slot(let slot, let fileDescriptor) = source.registration else { return }
        var event = epoll_event()
        event.events = events.rawValue
        event.data.u64 = UInt64(generations[slot]) << 32 | UInt64(slot)
        epoll_ctl(epoll, EPOLL_CTL_MOD, fileDescriptor, &event)
    }

    /// Stops watching, before the descriptor is closed. Does not close it.
    public func remove(_ source: EventSource) {
        guard case .slot(let slot, let fileDescriptor) = source.registration else { return }
        epoll_ctl(epoll, EPOLL_CTL_DEL, fileDescriptor, nil)
        source.registration = .none
        slots[slot] = nil
        generations[slot] &+= 1
        freeSlots.append(slot)
    }
}
