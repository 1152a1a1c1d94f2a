/// What a member does that others can see, or that is lost with it if it dies before. Requests to the store have three: they are made,
/// the store has done them, the member heard of it.
public enum Effect: Int, CaseIterable, Sendable {
    case fetched, applied
    /// A push was handed to a worker; it left; it came back because it may not leave any more; its answer was heard.
    case handed, left, fenced, answered
    case claimMade, claimDone, claimHeard
    case renewMade, renewDone, renewHeard
    case loadMade, loadDone, loadHeard
    /// Checkpoints alone.
    case saveMade, saveDone, saveHeard
    /// With positions: what is settled is committed.
    case commitMade, commitDone, commitHeard
    case releaseMade, releaseDone, releaseHeard
    /// Where a coordinator spreads partitions: they are given, wanted back, lost; let go of; and what is settled is told.
    case assigned, revoked, lost, letGo, positionsTold

    public var name: String {
        switch self {
        case .fetched: "fetch"
        case .applied: "apply"
        case .handed: "hand"
        case .left: "leave"
        case .fenced: "fence"
        case .answered: "answer"
        case .claimMade: "claim>"
        case .claimDone: "claim="
        case .claimHeard: "claim<"
        case .renewMade: "renew>"
        case .renewDone: "renew="
        case .renewHeard: "renew<"
        case .loadMade: "load>"
        case .loadDone: "load="
        case .loadHeard: "load<"
        case .saveMade: "save>"
        case .saveDone: "save="
        case .saveHeard: "save<"
        case .commitMade: "commit>"
        case .commitDone: "commit="
        case .commitHeard: "commit<"
        case .releaseMade: "release>"
        case .releaseDone: "release="
        case .releaseHeard: "release<"
        case .assigned: "assign"
        case .revoked: "revoke"
        case .lost: "lose"
        case .letGo: "let go"
        case .positionsTold: "offsets"
        }
    }
}

/// How often a member died after one effect and before another, and how often the two followed each other at all.
public struct CrashCoverage: Equatable, Sendable {
    private static let count = Effect.allCases.count
    private var crashes = [Int](repeating: 0, count: count * count)
    private var passages = [Int](repeating: 0, count: count * count)

    public init() {}

    public subscript(after first: Effect, before second: Effect) -> Int {
        crashes[first.rawValue * CrashCoverage.count + second.rawValue]
    }

    public func passages(after first: Effect, before second: Effect) -> Int {
        passages[first.rawValue * CrashCoverage.count + second.rawValue]
    }

    /// Pairs that followed each other in some world.
    public var pairsMet: Int { passages.count { $0 > 0 } }
    /// Of those, the ones between which a member died.
    public var pairsCrashed: Int { zip(crashes, passages).count { $0 > 0 && $1 > 0 } }

    mutating func pass(after first: Effect, before second: Effect, dies: Bool) {
        let place = first.rawValue * CrashCoverage.count + second.rawValue
        passages[place] += 1
        if dies { crashes[place] += 1 }
    }

    public mutating func add(_ other: CrashCoverage) {
        for place in crashes.indices {
            crashes[place] += other.crashes[place]
            passages[place] += other.passages[place]
        }
    }

    /// A table: a row for what was done last, a column for what did not come about any more. `.`: they never followed each other; `0`:
    /// they did, and nobody died between.
    public var lines: [String] {
        func cell(_ text: String) -> String { String(repeating: " ", count: max(1, 9 - text.count)) + text }
        func row(_ name: String, _ cells: [String]) -> String {
            name + String(repeating: " ", count: max(1, 9 - name.count)) + cells.map(cell).joined()
        }
        return ["crashes between effects: \(pairsCrashed) of \(pairsMet) pairs that followed each other"]
            + [row("after", Effect.allCases.map(\.name))]
            + Effect.allCases.map { first in
                row(
                    first.name,
                    Effect.allCases.map { second in
                        guard passages(after: first, before: second) > 0 else { return "." }
                        return String(self[after: first, before: second])
                    })
            }
    }
}
