import CLinux
import Flow
import Glibc
import Sockets

/// When a member has nothing to do, how long that lasts, and what wakes it.
extension MemberRunner {
    /// Whether something was asked or answered whose consequences have not been drawn yet.
    var hasWork: Bool {
        defer { (hasAsked, hasStirred) = (false, false) }
        return hasAsked || hasStirred
    }

    var idleNanoseconds: Int64? {
        for (place, feed) in feeds.enumerated() {
            guard engine.deadLetters.takesMore, let ticket = feed?.first?.ticket, member.isReading(Int32(place))
            else { continue }
            if member.isPrepared(ticket) { return nil }
        }
        let clock = engine.clock
        var nanoseconds = engine.nanosecondsUntilDue(atMost: LaneEngine.tickMilliseconds * 1_000_000)
        if group.hasJoined { nanoseconds = min(nanoseconds, clock.nanoseconds(untilReal: member.nextDueMilliseconds)) }
        if let turn = loop.nextTurnMilliseconds {
            if turn == .min { return nil }
            nanoseconds = min(nanoseconds, max(0, turn - EventLoop.currentMilliseconds()) * 1_000_000)
        }
        if let deadline = drainDeadlineMilliseconds {
            nanoseconds = min(nanoseconds, clock.nanoseconds(untilReal: deadline))
        }
        if !deferred.isEmpty { nanoseconds = min(nanoseconds, DeferredSaves.lookNanoseconds) }
        return nanoseconds > 0 ? nanoseconds : nil
    }

    /// Until something is due, or a worker, Redis or a stop request calls.
    func wait(_ nanoseconds: Int64) {
        withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) { sources in
            sources.initializeElement(
                at: 0, to: pollfd(fd: engine.stop.wakeup.descriptor, events: Int16(POLLIN), revents: 0))
            sources.initializeElement(at: 1, to: pollfd(fd: loop.pollDescriptor, events: Int16(POLLIN), revents: 0))
            engine.reports.sleep { _ = clinux_poll(sources.baseAddress, 2, nanoseconds) }
            // Before what it calls for is looked at, so that no call is lost.
            if sources[0].revents != 0 { engine.stop.wakeup.clear() }
        }
    }
}
