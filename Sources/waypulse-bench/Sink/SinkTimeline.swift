import Glibc

/// When a sink answered how many requests: a line `milliseconds count` for each tenth of a second, Unix time, in which there were any.
final class SinkTimeline {
    private static let stepMilliseconds: Int64 = 100

    private let file: UnsafeMutablePointer<FILE>
    private var step: Int64 = 0
    private var count = 0

    init(path: String) throws(BenchmarkFault) {
        guard let file = fopen(path, "w") else { throw BenchmarkFault(problem: "\(path) cannot be written") }
        self.file = file
    }

    func note(_ answers: Int) {
        guard answers > 0 else { return }
        let now = StreamProducer.wallMilliseconds() / Self.stepMilliseconds
        if now != step {
            end()
            step = now
        }
        count += answers
    }

    /// What was counted since the last line.
    func end() {
        guard count > 0 else { return }
        fputs("\(step * Self.stepMilliseconds) \(count)\n", file)
        fflush(file)
        count = 0
    }
}
