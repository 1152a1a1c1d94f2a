import Delivery
import Glibc
import Synchronization
import Testing

@testable import Pipeline

@Suite("Reports on their way to a lane")
struct ReportBoxTests {
    private let wakeup = Wakeup()

    private var isWoken: Bool {
        var source = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&source, 1, 0) == 1
    }

    @Test("A lane that is awake is not woken, and finds what has come")
    func sparesTheAwake() {
        let box = ReportBox(wakeup: wakeup)
        box.add([.streams(pool: 0, count: 1)], worker: 0)
        box.add([.streams(pool: 1, count: 2)], worker: 1)
        #expect(!isWoken)
        var taken: [ReportBox.Batch] = []
        box.take(into: &taken)
        #expect(taken.map(\.worker) == [0, 1])
        taken.removeAll()
        box.take(into: &taken)
        #expect(taken.isEmpty)
    }

    @Test("A lane that sleeps is woken once, by what comes first")
    func wakesTheSleeper() {
        let box = ReportBox(wakeup: wakeup)
        var slept = false
        box.sleep {
            slept = true
            #expect(!isWoken)
            box.add([.streams(pool: 0, count: 1)], worker: 0)
            #expect(isWoken)
            wakeup.clear()
            box.add([.streams(pool: 0, count: 2)], worker: 0)
            #expect(!isWoken)
        }
        #expect(slept)
    }

    @Test("What has come before a lane lies down keeps it up")
    func doesNotSleepOverNews() {
        let box = ReportBox(wakeup: wakeup)
        box.add([.streams(pool: 0, count: 1)], worker: 0)
        box.sleep { Issue.record("it slept over a report") }
        var taken: [ReportBox.Batch] = []
        box.take(into: &taken)
        #expect(taken.count == 1)
        var slept = false
        box.sleep { slept = true }
        #expect(slept)
    }

    @Test("Whatever a worker does while a lane goes to sleep, no report lies unseen")
    func losesNoWake() throws {
        let box = ReportBox(wakeup: wakeup)
        let wanted = 20_000
        let worker = Thread.start {
            for number in 0..<wanted { box.add([.streams(pool: 0, count: number)], worker: 0) }
        }
        var seen: [Int] = []
        var taken: [ReportBox.Batch] = []
        while seen.count < wanted {
            box.take(into: &taken)
            for case .streams(_, let count) in taken.flatMap(\.reports) { seen.append(count) }
            taken.removeAll()
            if seen.count == wanted { break }
            box.sleep {
                var source = pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)
                // Longer than anything here takes: a wake that was lost fails the test instead of hanging it.
                let woken = poll(&source, 1, 60_000)
                #expect(woken == 1, "\(seen.count) of \(wanted) reports came, and then no wake")
                wakeup.clear()
            }
        }
        pthread_join(worker, nil)
        #expect(seen == Array(0..<wanted))
    }
}

/// A bare thread: the pool of tasks would not block.
private enum Thread {
    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    static func start(_ body: @escaping @Sendable () -> Void) -> pthread_t {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(body)).toOpaque()
        let status = pthread_create(
            &thread, nil,
            { argument in
                Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().body()
                return nil
            }, work)
        precondition(status == 0, "pthread_create: \(status)")
        return thread
    }
}
