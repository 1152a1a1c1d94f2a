/// Turns what was written into a value of a kind, and notes everything that is wrong with it.
struct ValueReader {
    struct Complaint: Equatable {
        let mark: Mark
        /// What to add to the option's key, for instance `.etaTimestamp`.
        let below: String
        let problem: String
        let remedy: String?
    }

    private(set) var complaints: [Complaint] = []

    mutating func read(_ node: Node, as kind: Kind) -> OptionValue? {
        guard !node.isNull || kind.takesEmpty else {
            return note(node.mark, Refusal(problem: "has no value", remedy: "write one, or leave it out"))
        }
        switch kind {
        case .list(let rule): return list(node, of: rule)
        case .numbers(let range): return numbers(node, range)
        case .names(let keys, let values, let orOff): return names(node, keys: keys, values: values, orOff: orOff)
        case .texts: return texts(node)
        case .schema: return schema(node)
        default: return scalar(node, as: kind)
        }
    }

    private mutating func scalar(_ node: Node, as kind: Kind) -> OptionValue? {
        guard case .scalar(let text, let isPlain) = node.content else {
            return note(node.mark, Refusal(problem: "is \(node.says), expected \(kind.says)", remedy: nil))
        }
        do throws(Refusal) {
            return try kind.value(of: text, isPlain: isPlain)
        } catch {
            return note(node.mark, error)
        }
    }

    /// Keeps a complaint; always nil, so that a refused value can be returned in one step.
    @discardableResult
    mutating func note(_ mark: Mark, below: String = "", _ refusal: Refusal) -> OptionValue? {
        complaints.append(Complaint(mark: mark, below: below, problem: refusal.problem, remedy: refusal.remedy))
        return nil
    }
}
