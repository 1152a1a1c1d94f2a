import CBenchmarks
import Glibc

/// Nanoseconds. CPU time leaves out what other programs took from this one, so it is what most figures are made of.
enum Clock {
    static func threadCPU() -> Int64 { nanoseconds(CLOCK_THREAD_CPUTIME_ID) }
    static func processCPU() -> Int64 { nanoseconds(CLOCK_PROCESS_CPUTIME_ID) }
    static func monotonic() -> Int64 { nanoseconds(CLOCK_MONOTONIC) }

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// Bytes of memory that the process holds now.
func residentBytes() throws(BenchmarkFault) -> Int {
    // What was freed and not given back would count as held.
    cbenchmarks_give_back_memory()
    guard let file = fopen("/proc/self/statm", "r") else {
        throw BenchmarkFault(problem: "/proc/self/statm: unreadable")
    }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    fgets(&line, 256, file)
    let words = line.prefix { $0 != 0 }.split(separator: CChar(UInt8(ascii: " ")))
    guard words.count > 1, let pages = Int(String(decoding: words[1].map(UInt8.init), as: UTF8.self)) else {
        throw BenchmarkFault(problem: "/proc/self/statm: not as Linux writes it")
    }
    return pages * sysconf(Int32(_SC_PAGESIZE))
}
