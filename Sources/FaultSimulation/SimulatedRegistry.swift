import Flow
import Pacing
import Telemetry

/// The registry of tokens that all members share, at its plainest, and the judge of what is asked of it.
struct SimulatedRegistry {
    private struct Grant {
        let start: StartMark
        let atMilliseconds: Int64
    }

    /// Of the one phone that all users hold.
    private(set) var startToken: RegisteredStartToken?
    /// Registered before their activity began.
    var kept: [[UInt8]: KeptToken] = [:]
    private var grants: [PushToken: [Grant]] = [:]
    /// By activity, what was told last of its user, and what is known to be gone.
    private var told: [String: PushToken] = [:]
    private var gone: [String: Set<PushToken>] = [:]
    /// By activity: which token served which of its starts.
    private var granted: [[UInt8]: [PushToken: Set<UInt32>]] = [:]

    mutating func register(_ token: PushToken, atMilliseconds milliseconds: Int64) {
        guard milliseconds >= startToken?.registeredAtMilliseconds ?? .min else { return }
        startToken = RegisteredStartToken(token: token, registeredAtMilliseconds: milliseconds)
    }

    /// What is wrong with a question.
    func fault(in request: RegistryRequest, _ budget: StartBudget) -> Broken? {
        guard case .takeStart(let token, _, let start, let asked) = request else { return nil }
        if asked != budget { return Broken(.budgetHolds, "a start is counted by another budget than the settings'") }
        let activity = String(decoding: start.activity, as: UTF8.self)
        if gone[activity]?.contains(token) == true {
            return Broken(.newestToken, "start \(start.life) is to go to a token that is known to be gone")
        }
        if let newest = told[activity], newest != token {
            return Broken(.newestToken, "start \(start.life) is to go to another token than the user's newest")
        }
        return nil
    }

    mutating func answer(_ request: RegistryRequest, unixMilliseconds now: Int64) -> RegistryAnswer {
        switch request {
        case .begin(let activity, _): return .begun(kept[activity])
        case .end(let activity, _):
            // Its card's token goes with it.
            kept[activity] = nil
            return .done
        case .startToken(let user, _):
            told[SimulatedRegistry.activity(of: user)] = startToken?.token
            return .startToken(startToken)
        case .takeStart(let token, _, let start, let budget):
            let past = grants[token, default: []].filter {
                $0.start == start || $0.atMilliseconds > now - budget.windowMilliseconds
            }
            guard !past.contains(where: { $0.start == start }) else { return .startGranted }
            guard past.count < budget.starts else {
                return .startDeferred(
                    untilMilliseconds: (past.map(\.atMilliseconds).min() ?? now) + budget.windowMilliseconds)
            }
            grants[token, default: []].append(Grant(start: start, atMilliseconds: now))
            granted[start.activity, default: [:]][token, default: []].insert(start.life)
            return .startGranted
        case .forgetStartToken(let user, _, let token, let goneAt):
            gone[SimulatedRegistry.activity(of: user), default: []].insert(token)
            if let known = startToken, known.token == token, known.registeredAtMilliseconds <= goneAt {
                startToken = nil
            }
            return .done
        }
    }

    /// A user's name holds the number of the activity that is begun for him.
    private static func activity(of user: String) -> String { "ride-\(user.split(separator: "-")[1])" }

    /// Whether a start of the activity through that token was counted; each life's is another one.
    func hasGranted(_ token: PushToken, to activity: [UInt8], starts: Int) -> Bool {
        granted[activity]?[token]?.count ?? 0 >= starts
    }
}
