import Pacing

/// What a lane has asked of the registry of tokens, and will ask again.
struct RegistryQuestions {
    struct Question {
        let shard: Int
        let incarnation: UInt32
        let errand: Errand
        /// How often it was asked without an answer that is of use.
        var attempts = 0

        /// A start waits for it, so that what a recording holds is not told without it.
        var isAwaitedByStart: Bool { if case .takeStart = errand.kind { true } else { false } }
        /// One that nobody waits for is not asked for ever.
        var mayBeAbandoned: Bool {
            switch errand.kind {
            case .startToken, .takeStart: false
            case .begin, .end, .forgetStartToken: true
            }
        }
    }

    /// So many wait to be asked again. At the limit those of them that nobody waits for are asked no more: where such an activity's events go,
    /// the registry then hears when it is taken over or begins anew.
    static let waitingLimit = 65_536
    static let firstDelayMilliseconds: Int64 = 1_000
    static let longestDelayMilliseconds: Int64 = 60_000

    var asked: [UInt64: Question] = [:]
    var later = TimedQueue<Question>()
    private var nextIdentifier: UInt64 = 1
    private var nextOrder: UInt64 = 1
    var failures: UInt64 = 0
    var abandoned: UInt64 = 0

    var awaitedByStarts: Int {
        asked.values.count { $0.isAwaitedByStart } + later.elements.reduce(0) { $0 + ($1.isAwaitedByStart ? 1 : 0) }
    }

    mutating func ask(_ question: Question) -> UInt64 {
        defer { nextIdentifier += 1 }
        asked[nextIdentifier] = question
        return nextIdentifier
    }

    /// Asks again once a time has passed that grows with each attempt: 1, 2, 4 … 60 s, less up to a quarter of it by chance.
    mutating func askLater(_ question: Question, at realMilliseconds: Int64, random: inout SplitMix) {
        guard later.count < RegistryQuestions.waitingLimit || !question.mayBeAbandoned else {
            abandoned += 1
            return
        }
        let longest = min(
            RegistryQuestions.longestDelayMilliseconds,
            RegistryQuestions.firstDelayMilliseconds << Int64(min(question.attempts, 10)))
        let less = Int64(random.next() % UInt64(longest / 4 + 1))
        var question = question
        question.attempts += 1
        later.add(
            question,
            dueMilliseconds: realMilliseconds + max(RegistryQuestions.firstDelayMilliseconds, longest - less),
            order: nextOrder)
        nextOrder += 1
    }

    mutating func removeAll(ofShard shard: Int) {
        asked = asked.filter { $0.value.shard != shard }
        later.removeAll { $0.shard == shard }
    }
}

/// Requests to the registry of tokens come out of the lane, answers go in: it waits for none of them.
extension Lane {
    /// What is to be asked of the registry now, in order. To be called after events, time and answers, as `next` is; requests of one activity
    /// are to be done in that order. Each is answered once.
    public func takeRegistryRequests(at moment: Moment) -> [(identifier: UInt64, request: RegistryRequest)] {
        guard settings.shard.asksRegistry else { return [] }
        var requests: [(identifier: UInt64, request: RegistryRequest)] = []
        while let question = registry.later.popDue(at: moment.realMilliseconds) {
            // One of a shard that is gone, or that something has made superfluous meanwhile.
            guard standings[question.shard].incarnation == question.incarnation,
                shards[question.shard].wants(question.errand)
            else { continue }
            requests.append(ask(question))
        }
        for index in shards.indices where shards[index].hasErrands {
            for errand in shards[index].takeErrands() {
                requests.append(
                    ask(
                        RegistryQuestions.Question(
                            shard: index, incarnation: standings[index].incarnation, errand: errand)))
            }
        }
        return requests
    }

    /// The answer to a request. A second one, or one that comes too late to matter, changes nothing.
    public func answer(_ identifier: UInt64, _ answer: RegistryAnswer, at moment: Moment) {
        guard let question = registry.asked.removeValue(forKey: identifier),
            standings[question.shard].incarnation == question.incarnation
        else { return }
        if case .failed = answer { registry.failures += 1 }
        if !take(answer, to: question, at: moment), shards[question.shard].wants(question.errand) {
            registry.askLater(question, at: moment.realMilliseconds, random: &random)
        }
        hasNews = true
        if shards[question.shard].newlyReady.contains(.urgent) { hasUrgentNews = true }
        shards[question.shard].newlyReady = []
    }

    /// - Returns: whether it is an answer that ends the question.
    private func take(_ answer: RegistryAnswer, to question: RegistryQuestions.Question, at moment: Moment) -> Bool {
        let shard = shards[question.shard]
        switch (question.errand.kind, answer) {
        case (.begin, .begun(let kept)):
            if let kept {
                shard.takeKeptToken(
                    kept.token, registeredAtMilliseconds: kept.registeredAtMilliseconds,
                    frequentUpdates: kept.frequentUpdates, of: question.errand.activity, at: moment.pacing)
            }
            return true
        case (.end, .done), (.forgetStartToken, .done): return true
        case (.startToken, .startToken(let registered)):
            guard let registered else { return false }
            return shard.takeStartToken(
                registered.token, registeredAtMilliseconds: registered.registeredAtMilliseconds,
                for: question.errand, at: moment.pacing)
        case (.takeStart, .startGranted):
            shard.grantStart(question.errand, at: moment.pacing)
            return true
        case (.takeStart, .startDeferred(let until)):
            shard.deferStart(question.errand, untilMilliseconds: until, at: moment.pacing)
            startDeferrals.append(
                StartDeferral(
                    activity: question.errand.activity, partition: standings[question.shard].partition,
                    untilMilliseconds: until))
            return true
        default: return false
        }
    }

    private func ask(_ question: RegistryQuestions.Question) -> (UInt64, RegistryRequest) {
        let errand = question.errand
        let request: RegistryRequest =
            switch errand.kind {
            case .begin(let key):
                .begin(
                    activity: errand.activity,
                    ActivityPlace(key: key, partition: standings[question.shard].partition))
            case .end(let kept): .end(activity: errand.activity, keptMilliseconds: kept)
            case .startToken(let user, let app): .startToken(user: user, app: app)
            case .takeStart(let token, let app, let start):
                .takeStart(
                    token: token, app: app, start: StartMark(activity: errand.activity, life: start),
                    settings.startBudget)
            case .forgetStartToken(let user, let app, let token, let goneAt):
                .forgetStartToken(user: user, app: app, token: token, goneAtMilliseconds: goneAt)
            }
        return (registry.ask(question), request)
    }

    // MARK: What can be seen from outside

    /// Requests to the registry that have no answer, or wait to be made again.
    public var openRegistryRequests: Int { registry.asked.count + registry.later.count }
    /// Answers of the registry that it could not do it, since the beginning.
    public var registryFailures: UInt64 { registry.failures }
    /// Requests that are made no more, since too many waited.
    public var abandonedRegistryRequests: UInt64 { registry.abandoned }
    /// Starts that wait because their phone's budget is used up.
    public var deferredStarts: Int { shards.reduce(0) { $0 + $1.deferredStartCount } }

    /// Starts that were put off since the last call.
    public func takeStartDeferrals() -> [StartDeferral] {
        defer { startDeferrals.removeAll(keepingCapacity: true) }
        return startDeferrals
    }
}

/// A start that its phone would have dropped, and that waits.
public struct StartDeferral: Equatable, Sendable {
    public let activity: [UInt8]
    public let partition: Int32
    /// By the wall clock.
    public let untilMilliseconds: Int64
}
