import Flow
import Foundation
import Testing

@testable import Delivery

/// What a worker has reported so far, and a way to wait for more.
final class ReportLog: @unchecked Sendable {
    struct Contents {
        var reports: [Report] = []
        /// How each job ended, once for each report of it.
        var endings: [UInt64: [String]] = [:]
        /// As last reported, by pool.
        var streams: [Int: Int] = [:]

        func hasEnded(_ identifiers: some Sequence<UInt64>) -> Bool {
            identifiers.allSatisfy { endings[$0] != nil }
        }
    }

    private let condition = NSCondition()
    // Touched with the condition's lock held.
    private var contents = Contents()

    var now: Contents {
        condition.withLock { contents }
    }

    func add(_ reports: [Report]) {
        condition.withLock {
            for report in reports {
                contents.reports.append(report)
                switch report {
                case .completed(let identifier, let outcome):
                    contents.endings[identifier, default: []].append(outcome.name)
                case .streams(let pool, let count): contents.streams[pool] = count
                }
            }
            condition.broadcast()
        }
    }

    /// Waits for a report beyond so many, and no longer than a few milliseconds: for what may happen without one.
    func waitBriefly(beyond count: Int) {
        condition.lock()
        defer { condition.unlock() }
        if contents.reports.count <= count { _ = condition.wait(until: Date(timeIntervalSinceNow: 0.005)) }
    }

    /// Waits until it holds. The half minute is no expectation, only the end of a test that hangs.
    @discardableResult
    func wait(_ test: (Contents) -> Bool, sourceLocation: SourceLocation = #_sourceLocation) -> Contents {
        let end = Date(timeIntervalSinceNow: 30)
        condition.lock()
        defer { condition.unlock() }
        while !test(contents) {
            // Not all that a test waits for comes with a report: it looks again every few milliseconds.
            _ = condition.wait(until: Date(timeIntervalSinceNow: 0.005))
            if Date() > end {
                Issue.record(
                    "never happened; streams \(contents.streams), \(contents.endings.count) jobs ended: \(contents.endings.prefix(10))",
                    sourceLocation: sourceLocation)
                break
            }
        }
        return contents
    }
}

extension DispatchOutcome {
    var name: String {
        switch self {
        case .answered(let answer, _): answer.isAccepted ? "\(answer.status)" : "\(answer.status) \(answer.name)"
        case .signalled(let signal): signal.label
        case .unsent: "unsent"
        }
    }
}
