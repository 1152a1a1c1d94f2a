import LiveActivities

/// The last times at which a pool's breaker was open: they answer for all of its activities, so that no activity has to remember them.
struct OutageHistory {
    static let limit = 16

    private(set) var outages: [Outage] = []

    mutating func note(_ change: Breaker.Change, because answer: String, atMilliseconds now: Int64) {
        switch change {
        case .opened(let cause):
            // A credential fault under a server fault goes on as the same outage.
            if let last = outages.last, last.closedAtMilliseconds == nil {
                outages[outages.count - 1].cause = cause
                return
            }
            if outages.count == OutageHistory.limit { outages.removeFirst() }
            outages.append(Outage(cause: cause, answer: answer, openedAtMilliseconds: now))
        case .closed:
            guard let last = outages.last, last.closedAtMilliseconds == nil else { return }
            outages[outages.count - 1].closedAtMilliseconds = now
        }
    }
}

/// While a breaker is open single probes leave, and nothing else.
public struct Outage: Equatable, Sendable {
    public var cause: Breaker.Cause
    /// What opened it: the reason that the provider gave, or what happened to the connection.
    public var answer: String
    /// Pacing's clock.
    public var openedAtMilliseconds: Int64
    public var closedAtMilliseconds: Int64?
}

/// Names of answers by small numbers, as many as a journal needs: what Apple documents, what connections do, and a few more.
struct AnswerNames {
    /// What is not documented could be anything, and much of it.
    static let limit = 128

    /// The place of one, plus 1, is its number.
    private(set) var names: [String] = []
    private var numbers: [String: Int] = [:]

    mutating func number(of name: String?) -> Int {
        guard let name else { return 0 }
        if let number = numbers[name] { return number }
        guard names.count < AnswerNames.limit else { return number(of: names[AnswerNames.limit - 1]) }
        names.append(names.count == AnswerNames.limit - 1 ? "another reason" : name)
        numbers[names[names.count - 1]] = names.count
        return names.count
    }
}
