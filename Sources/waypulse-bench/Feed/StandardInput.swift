import Glibc

/// A thread that writes to what this program reads as its standard input.
enum StandardInput {
    /// Makes standard input a pipe, and calls `feed` on a thread of its own with the end to write to, which is closed when it returns.
    static func feed(_ feed: @escaping @Sendable (Int32) -> Void) throws(BenchmarkFault) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0, dup2(ends[0], STDIN_FILENO) == STDIN_FILENO else {
            throw BenchmarkFault(problem: "no pipe: \(String(cString: strerror(errno)))")
        }
        close(ends[0])
        // Linux' F_SETPIPE_SZ, which Swift does not see: room for 20 ms of events at 200,000 a second.
        _ = fcntl(ends[1], 1_031, 1_048_576)
        let work = Work(feed, ends[1])
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { raw in
                let work = Unmanaged<Work>.fromOpaque(raw!).takeRetainedValue()
                work.feed(work.descriptor)
                close(work.descriptor)
                return nil
            }, Unmanaged.passRetained(work).toOpaque())
        guard code == 0 else { throw BenchmarkFault(problem: "no thread: \(String(cString: strerror(code)))") }
        pthread_detach(thread)
    }

    private final class Work: Sendable {
        let feed: @Sendable (Int32) -> Void
        let descriptor: Int32

        init(_ feed: @escaping @Sendable (Int32) -> Void, _ descriptor: Int32) {
            self.feed = feed
            self.descriptor = descriptor
        }
    }
}

/// The wall clock, for events' own times.
func wallMilliseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
}
