import Glibc
import Synchronization
import Testing

@testable import Sockets

@Suite struct EventLoopTests {
    @Test func timersFireInTheOrderOfTheirTimes() throws {
        let loop = try EventLoop()
        var fired: [Int] = []
        let now = loop.nowMilliseconds
        let timers = [5, 1, 3, 2, 4].map { number in
            let timer = loop.timer { fired.append(number) }
            timer.schedule(atMilliseconds: now + Int64(number))
            return timer
        }
        while fired.count < 5 { loop.runOnce() }
        #expect(fired == [1, 2, 3, 4, 5])
        #expect(timers.allSatisfy { $0.deadlineMilliseconds == nil })
    }

    @Test func aTimerThatIsCancelledOrMovedDoesNotFireAtItsOldTime() throws {
        let loop = try EventLoop()
        var fired: [String] = []
        let past = loop.nowMilliseconds - 1
        let cancelled = loop.timer { fired.append("cancelled") }
        let moved = loop.timer { fired.append("moved") }
        // Both are due in the same turn; the first takes the second away.
        let first = loop.timer {
            fired.append("first")
            cancelled.cancel()
            moved.schedule(atMilliseconds: .max)
        }
        first.schedule(atMilliseconds: past - 1)
        cancelled.schedule(atMilliseconds: past)
        moved.schedule(atMilliseconds: past)
        loop.runOnce()
        loop.runOnce(timeoutMilliseconds: 0)
        #expect(fired == ["first"])
        #expect(moved.deadlineMilliseconds == .max)
    }

    @Test func aTimerThatSetsItselfToNowWaitsForTheNextTurn() throws {
        let loop = try EventLoop()
        var count = 0
        var timer: LoopTimer!
        timer = loop.timer { [unowned loop] in
            count += 1
            timer.schedule(atMilliseconds: loop.nowMilliseconds)
        }
        timer.schedule(atMilliseconds: loop.nowMilliseconds)
        loop.runOnce()
        #expect(count == 1)
        loop.runOnce()
        #expect(count == 2)
        timer.cancel()
        timer = nil
    }

    @Test func manyTimersInAnyOrderAgreeWithSorting() throws {
        let loop = try EventLoop()
        var random: UInt64 = 42
        func draw() -> Int64 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int64(random >> 44)
        }
        var fired: [Int64] = []
        var expected: [Int64] = []
        let past = loop.nowMilliseconds - (1 << 21)
        var timers: [LoopTimer] = []
        for number in 0..<2_000 {
            var time = past + draw()
            let timer = loop.timer { fired.append(Int64(number)) }
            timer.schedule(atMilliseconds: time)
            if number % 3 == 0 {
                time = past + draw()
                timer.schedule(atMilliseconds: time)
            }
            timers.append(timer)
        }
        var kept: [(time: Int64, number: Int64)] = []
        for (number, timer) in timers.enumerated() {
            if number % 7 == 0 { timer.cancel() } else { kept.append((timer.deadlineMilliseconds!, Int64(number))) }
        }
        expected = kept.map(\.time).sorted()
        loop.runOnce()
        let timeOf = Dictionary(uniqueKeysWithValues: kept.map { ($0.number, $0.time) })
        #expect(fired.map { timeOf[$0]! } == expected)
    }

    @Test func workFromOtherThreadsRunsInOrderOnTheLoop() throws {
        let seen = Mutex<[Int]>([])
        let thread = try LoopThread.start(name: "test loop") { _ in }
        for number in 0..<1_000 { thread.mailbox.submit { _ in seen.withLock { $0.append(number) } } }
        thread.stopAndJoin()
        let isComplete = seen.withLock { $0 } == Array(0..<1_000)
        #expect(isComplete)
    }

    @Test func eachWakeIsFollowedByACallThatSeesWhatWasHandedOver() throws {
        // Goal: no lost wake-up. The other thread counts up and wakes; the loop must see the last count without a time-out.
        let shared = Shared()
        let thread = try LoopThread.start(name: "receiver") { loop in
            loop.onWake { [unowned loop] in
                if shared.count.load(ordering: .acquiring) == 20_000 { loop.stop() }
            }
        }
        for number in 1...20_000 {
            shared.count.store(number, ordering: .releasing)
            thread.mailbox.wake()
        }
        thread.join()
    }

    private final class Shared: Sendable {
        let count = Atomic<Int>(0)
    }

    @Test func aSourceRemovedInTheSameTurnIsNotCalled() throws {
        final class Reader: EventSource {
            var calls = 0
            var onReady: () -> Void = {}
            override func ready(_ events: ReadyEvents) {
                calls += 1
                onReady()
            }
        }
        let loop = try EventLoop()
        let pipes = [try Pipe(), try Pipe()]
        let readers = [Reader(), Reader()]
        for (pipe, reader) in zip(pipes, readers) {
            try loop.add(reader, fileDescriptor: pipe.reading, events: [.readable])
            pipe.write()
        }
        readers[0].onReady = { loop.remove(readers[1]) }
        readers[1].onReady = { loop.remove(readers[0]) }
        loop.runOnce(timeoutMilliseconds: 0)
        loop.runOnce(timeoutMilliseconds: 0)
        #expect(min(readers[0].calls, readers[1].calls) == 0)
        #expect(max(readers[0].calls, readers[1].calls) >= 1)
        for reader in readers {
            loop.remove(reader)
            reader.onReady = {}
        }
    }

    @Test func theEndOfATurnIsCalledOnceAndMayAskAgain() throws {
        final class Asker: EventSource {
            var calls = 0
            var loop: EventLoop?
            override func endOfTurn() {
                calls += 1
                if calls == 1 { loop!.callAtEndOfTurn(self) }
            }
        }
        let loop = try EventLoop()
        let asker = Asker()
        asker.loop = loop
        loop.callAtEndOfTurn(asker)
        loop.callAtEndOfTurn(asker)
        loop.runOnce(timeoutMilliseconds: 0)
        #expect(asker.calls == 2)
    }

    /// Waits as a thread does that has a poll of its own; false when the time is over, which no test below lets happen.
    private func isReadable(_ loop: EventLoop, withinMilliseconds: Int32) -> Bool {
        var descriptor = pollfd(fd: loop.pollDescriptor, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, withinMilliseconds) == 1
    }

    @Test func anotherPollMayWaitForTheLoop() throws {
        final class Reader: EventSource {
            var calls = 0
            override func ready(_ events: ReadyEvents) { calls += 1 }
        }
        let loop = try EventLoop()
        let pipe = try Pipe()
        let reader = Reader()
        try loop.add(reader, fileDescriptor: pipe.reading, events: [.readable, .edgeTriggered])
        loop.runOnce(timeoutMilliseconds: 0)
        #expect(!isReadable(loop, withinMilliseconds: 0))
        pipe.write()
        #expect(isReadable(loop, withinMilliseconds: 30_000))
        loop.runOnce(timeoutMilliseconds: 0)
        #expect(reader.calls == 1)
        // The edge has been served, so that the outer poll sleeps again.
        #expect(!isReadable(loop, withinMilliseconds: 0))
        loop.remove(reader)
    }

    @Test func aWordFromAnotherThreadIsSeenByTheOuterPoll() throws {
        let loop = try EventLoop()
        let mailbox = loop.mailbox
        let heard = Atomic<Bool>(false)
        let thread = try LoopThread.start(name: "sender") { sender in
            mailbox.submit { _ in heard.store(true, ordering: .relaxed) }
            sender.stop()
        }
        #expect(isReadable(loop, withinMilliseconds: 30_000))
        loop.runOnce(timeoutMilliseconds: 0)
        let wasHeard = heard.load(ordering: .relaxed)
        #expect(wasHeard)
        #expect(!isReadable(loop, withinMilliseconds: 0))
        thread.join()
    }

    @Test func theNextTurnIsDueWithTheNextTimerOrAtOnce() throws {
        final class Asker: EventSource {
            var calls = 0
            override func endOfTurn() { calls += 1 }
        }
        let loop = try EventLoop()
        #expect(loop.nextTurnMilliseconds == nil)
        var fired = 0
        let late = loop.timer { fired += 1 }
        late.schedule(atMilliseconds: loop.nowMilliseconds + 1_000_000)
        #expect(loop.nextTurnMilliseconds == loop.nowMilliseconds + 1_000_000)
        let early = loop.timer { fired += 10 }
        early.schedule(atMilliseconds: loop.nowMilliseconds)
        #expect(loop.nextTurnMilliseconds == early.deadlineMilliseconds)
        loop.runOnce(timeoutMilliseconds: 0)
        #expect(fired == 10)
        // What was asked for between two turns is not left lying until something else happens.
        let asker = Asker()
        loop.callAtEndOfTurn(asker)
        #expect(loop.nextTurnMilliseconds == .min)
        loop.runOnce(timeoutMilliseconds: 0)
        #expect(asker.calls == 1)
        #expect(loop.nextTurnMilliseconds == late.deadlineMilliseconds)
        late.cancel()
        #expect(loop.nextTurnMilliseconds == nil)
    }
}
