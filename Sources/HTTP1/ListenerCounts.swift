import Synchronization

/// What a listener has seen, for metrics. Read from any thread.
public final class ListenerCounts: Sendable {
    public enum Drop: Int, CaseIterable, Sendable {
        /// The request took too long to come in.
        case slow
        case idle
        /// A newcomer took the place.
        case displaced
        /// The answer was not read.
        case unread
    }

    let openNow = Atomic<Int>(0)
    let acceptedSoFar = Atomic<Int>(0)
    private let drops: [Cell] = Drop.allCases.map { _ in Cell() }
    private let refusals: [Cell] = (0..<4).map { _ in Cell() }

    private final class Cell: Sendable {
        let value = Atomic<Int>(0)
    }

    public var open: Int { openNow.load(ordering: .relaxed) }
    public var accepted: Int { acceptedSoFar.load(ordering: .relaxed) }
    public func dropped(_ why: Drop) -> Int { drops[why.rawValue].value.load(ordering: .relaxed) }
    /// Requests that were refused for how they are framed, their size, or because nobody answered.
    public var malformed: Int {
        refusals[0].value.load(ordering: .relaxed) + refusals[1].value.load(ordering: .relaxed)
    }
    public var tooLarge: Int { refusals[2].value.load(ordering: .relaxed) }
    public var overdue: Int { refusals[3].value.load(ordering: .relaxed) }

    func count(_ why: Drop) { drops[why.rawValue].value.add(1, ordering: .relaxed) }

    func count(_ refusal: HTTPRefusal) {
        let place =
            switch refusal {
            case .malformed: 0
            case .unknownTransferCoding: 1
            case .bodyTooLarge: 2
            case .overdue: 3
            }
        refusals[place].value.add(1, ordering: .relaxed)
    }
}
