/// How much memory remembers decisions: as much as by default, or none with `--explain off`, to see what that costs.
enum ExplainMemory {
    // Set once, before anything is measured.
    nonisolated(unsafe) private(set) static var bytes = 16 << 20

    static func set(_ options: BenchmarkOptions) throws(BenchmarkFault) {
        guard let text = options.text("explain") else { return }
        guard text == "off" else { throw BenchmarkFault(problem: "--explain is off or not given, not \(text)") }
        bytes = 0
    }
}
