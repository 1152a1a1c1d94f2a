import Flow
import Glibc

/// What is due when: positions at an even rate, urgent statuses at random times (a Poisson process).
struct EventSchedule: Sendable {
    /// Stands before an urgent event's number, in the event and so in its payload.
    static let mark = "\"mark\":"

    struct Urgent: Sendable {
        /// Counted over all rounds.
        let number: Int
        /// From the beginning of its round; made absolute there.
        var dueNanoseconds: Int64
    }

    let activities: Int
    let positionsPerSecond: Int
    let urgentPerSecond: Int
    let seconds: Int
    let rounds: Int

    /// More than will be drawn.
    var urgentCount: Int { rounds * (urgentPerSecond * seconds * 2 + 100) }

    func urgents(round: Int, firstNumber: Int) -> [Urgent] {
        var random = SplitMix(seed: UInt64(round) &* 77 &+ 5)
        var urgents: [Urgent] = []
        var due = 0.0
        while urgents.count < urgentPerSecond * seconds * 2 {
            // In (0, 1]: its logarithm is finite.
            let draw = Double(random.next() >> 11 + 1) / Double(1 << 53)
            due -= log(draw) / Double(urgentPerSecond) * 1e9
            guard due < Double(seconds) * 1e9 else { break }
            urgents.append(Urgent(number: firstNumber + urgents.count, dueNanoseconds: Int64(due)))
        }
        return urgents
    }

    /// An event line that changes what its phone shows in a field that is never merely tolerated.
    func line(_ urgent: Urgent, milliseconds: Int64) -> [UInt8] {
        // Far from the last one, so that the answer has long come when an activity's turn comes again.
        let activity = urgent.number &* 7_919 % activities
        let digits = String(activity)
        let name = String(repeating: "0", count: 7 - digits.count) + digits
        let fraction = String(milliseconds % 1_000 + 1_000).dropFirst()
        return Array(
            """
            {"type":"status","activityId":"ride-\(name)","timestamp":\(milliseconds / 1_000).\(fraction),\
            "contentState":{"status":"stop \(urgent.number)","mark":\(urgent.number)}}

            """.utf8)
    }
}
