import Flow
import Testing

@testable import Delivery

/// Does what a lane does with streams and reports, and nothing else: sends while a stream is free, and sends again what was not processed or
/// may not have been, until each push was accepted.
final class Sender {
    private let bench: WorkerBench
    private var waiting: [UInt64]
    private let total: Int
    private var outstanding = 0
    private var streams: Int
    private var read: Int
    private(set) var accepted: Set<UInt64> = []
    /// Other endings, by name.
    private(set) var again: [String: Int] = [:]
    /// Called with the number of accepted pushes after each that is.
    var onAccepted: (Int) -> Void = { _ in }

    init(_ bench: WorkerBench, _ identifiers: some Sequence<UInt64>) {
        self.bench = bench
        waiting = Array(identifiers).reversed()
        total = waiting.count
        let now = bench.reports.now
        streams = now.streams[0] ?? 0
        read = now.reports.count
    }

    func run(sourceLocation: SourceLocation = #_sourceLocation) {
        while accepted.count < total {
            let free = max(0, streams - outstanding)
            let next = waiting.suffix(free).reversed()
            waiting.removeLast(next.count)
            outstanding += next.count
            bench.push(next)
            let contents = bench.reports.wait({ $0.reports.count > read }, sourceLocation: sourceLocation)
            guard contents.reports.count > read else { return }
            for report in contents.reports[read...] { take(report) }
            read = contents.reports.count
        }
    }

    private func take(_ report: Report) {
        switch report {
        case .streams(_, let count): streams = count
        case .completed(let identifier, let outcome):
            outstanding -= 1
            guard outcome.name != "200" else {
                #expect(accepted.insert(identifier).inserted, "push \(identifier) was completed twice")
                return onAccepted(accepted.count)
            }
            again[outcome.name, default: 0] += 1
            waiting.append(identifier)
        }
    }
}
