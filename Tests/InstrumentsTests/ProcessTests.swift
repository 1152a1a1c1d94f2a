import Glibc
import Testing

@testable import Instruments

@Suite(.serialized) struct ProcessTests {
    @Test func memoryThatIsTouchedIsSeen() {
        let before = OwnProcess.residentBytes
        let size = 64 << 20
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 4096)
        defer { memory.deallocate() }
        memset(memory, 1, size)
        #expect(before > 1 << 20)
        // Other tests run beside this one and may free some.
        #expect(OwnProcess.residentBytes - before > Int64(size) / 2)
    }

    @Test func timeThatIsSpentIsSeen() {
        let before = OwnProcess.cpuMicroseconds
        var rounds: UInt64 = 1
        while OwnProcess.cpuMicroseconds == before { rounds &+= 1 }
        #expect(OwnProcess.cpuMicroseconds > before)
    }

    @Test func theProcessMetricsHaveTheirUsualNames() {
        let registry = Registry()
        registry.observeProcess()
        let snapshot = registry.snapshot()
        #expect(
            snapshot.names == [
                "process_start_time_seconds", "process_cpu_seconds_total", "process_resident_memory_bytes",
                "process_open_fds",
            ])
        // Standard input, output and error at least.
        #expect(snapshot.number("process_open_fds") ?? 0 >= 3)
    }
}
