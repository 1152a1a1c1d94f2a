import Flow
import Pacing
import Testing

@testable import Streams

/// Reads partition 0 of some topics, and looks at it again and again: each step is a quarter of the time between two looks.
final class StreamReader {
    let bench: StreamBench
    let feed: StreamFeed
    private(set) var notices: [FeedNotice] = []
    private(set) var offsets: [Int64] = []
    private(set) var steps = 0
    var nowMilliseconds: Int64 { Int64(steps) * StreamFeed.lookMilliseconds / 4 }

    init(
        _ bench: StreamBench, topics: [String] = ["rides"], after: SettledPosition? = nil, readCount: Int = 500
    ) {
        self.bench = bench
        var settings = StreamSettings(topics: topics, group: "g", apps: [])
        settings.readCount = readCount
        feed = StreamFeed(
            partition: 0, epoch: 1, client: bench.client, settings: settings, after: topics.map { _ in after })
    }

    func drive(until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        bench.drive({ step() }, until: condition, sourceLocation: sourceLocation)
    }

    /// As many turns as many looks need.
    func lookOften() {
        let end = steps + 200
        drive { steps >= end }
    }

    private func step() {
        steps += 1
        feed.read(nowMilliseconds: nowMilliseconds, wallMilliseconds: 1_000_000)
        while let batch = feed.first {
            notices += batch.notices
            offsets += batch.records.map(\.offset)
            feed.finishFirst()
        }
    }

    /// Of all notices of trimming.
    var trimmed: Int64 {
        notices.reduce(0) { if case .trimmed(_, let entries, _) = $1 { $0 + entries } else { $0 } }
    }

    var hasRewound: Bool { notices.contains { if case .rewound = $0 { true } else { false } } }
}
