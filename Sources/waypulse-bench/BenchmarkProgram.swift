import Glibc

/// `waypulse-bench NAME [--option value]…`: what `benchmarks/run` calls.
@main
enum BenchmarkProgram {
    static func main() {
        do {
            let options = try BenchmarkOptions(CommandLine.arguments.dropFirst())
            try ExplainMemory.set(options)
            switch options.benchmark {
            case "decode": try DecodeBenchmark.run(options)
            case "pacing": try PacingBenchmark.run(options)
            case "lane": try LaneBenchmark.run(options)
            case "serve": try OppositeServer.run(.complete, options)
            case "sink": try OppositeServer.run(.sink, options)
            case "push": try PushBenchmark.run(options)
            case "payloads": try PayloadBenchmark.run(options)
            case "urgent": try UrgentBenchmark.run(options)
            case "memory": try MemoryBenchmark.run(options)
            case "instruments": try InstrumentsBenchmark.run(options)
            case "count": try CountBenchmark.run(options)
            case "produce": try ProduceBenchmark.run(options)
            case "read": try ReadBenchmark.run(options)
            case "listen": try ReadBenchmark.listen(options)
            case "checkpoints": try CheckpointBenchmark.run(options)
            case "path": try PathBenchmark.run(options)
            default:
                throw BenchmarkFault(
                    problem:
                        "\(options.benchmark) is no benchmark; there are decode, pacing, lane, serve, sink, push, path")
            }
            try options.checkAllUsed()
        } catch {
            let text = Array("error: \(error)\n".utf8)
            write(STDERR_FILENO, text, text.count)
            exit(1)
        }
    }
}

struct BenchmarkFault: Error, CustomStringConvertible {
    let problem: String
    var description: String { problem }
}
