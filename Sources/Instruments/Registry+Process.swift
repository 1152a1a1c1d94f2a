import Glibc

extension Registry {
    /// Declares the metrics that every Prometheus client has under these names.
    /// https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
    public func observeProcess() {
        let startSeconds = LogSink.wallClockMilliseconds() / 1000
        observed("process_start_time_seconds", unit: .seconds, help: "When the process started, in Unix seconds.") {
            startSeconds
        }
        observed("process_cpu_seconds_total", unit: .microseconds, help: "User and system time spent.") {
            OwnProcess.cpuMicroseconds
        }
        observed("process_resident_memory_bytes", unit: .bytes, help: "Memory held in RAM.") {
            OwnProcess.residentBytes
        }
        observed("process_open_fds", help: "Open file descriptors.") { OwnProcess.openFiles }
    }
}

/// What the kernel knows about this process. Each figure is 0 where /proc is not mounted.
public enum OwnProcess {
    /// Memory held in RAM, in bytes.
    public static var residentBytes: Int64 {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
        // Two numbers of pages: all that is mapped, and the part that is resident.
        var end: UnsafeMutablePointer<CChar>?
        return line.withUnsafeMutableBufferPointer { line in
            _ = strtoll(line.baseAddress!, &end, 10)
            return Int64(strtoll(end!, nil, 10)) * Int64(sysconf(Int32(_SC_PAGESIZE)))
        }
    }

    /// User and system time spent so far, in microseconds.
    public static var cpuMicroseconds: Int64 {
        var time = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    /// Open file descriptors; the one that counts them is not counted.
    public static var openFiles: Int64 {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var entries: Int64 = 0
        while readdir(folder) != nil { entries += 1 }
        // ".", ".." and the folder's own descriptor.
        return entries - 3
    }
}
