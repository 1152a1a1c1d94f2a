import Flow
import Telemetry

/// A registry that ends with its process: for recordings, and for tests. Answers before `perform` returns, and never fails.
public final class MemoryTokenRegistry: TokenRegistry {
    private struct Activity {
        var place: ActivityPlace?
        var slot = TokenSlot()
        var frequentUpdates: Bool?
        var endMilliseconds: Int64
    }

    private struct User: Hashable {
        let name: String
        let app: String
    }

    private struct Budget {
        var starts: [(mark: StartMark, atMilliseconds: Int64)] = []
        var endMilliseconds: Int64 = 0
    }

    private struct Phone: Hashable {
        let token: PushToken
        let app: String
    }

    private let retention: RegistryRetention
    private let clock: () -> Int64
    private var activities: [[UInt8]: Activity] = [:]
    private var users: [User: (slot: TokenSlot, endMilliseconds: Int64)] = [:]
    private var budgets: [Phone: Budget] = [:]
    /// So many may be kept before those that have ended their time are looked for.
    private var sweepAt = MemoryTokenRegistry.leastSwept

    private static let leastSwept = 1_024

    /// - Parameter clock: Unix milliseconds, or those of a recording.
    public init(retention: RegistryRetention = RegistryRetention(), clock: @escaping () -> Int64) {
        (self.retention, self.clock) = (retention, clock)
    }

    public var fault: StoreFault? { nil }

    /// Entries of all kinds, for tests and figures.
    public var count: Int { activities.count + users.count + budgets.count }

    public func perform(_ request: RegistryRequest, _ completion: @escaping (RegistryAnswer) -> Void) {
        let now = clock()
        sweep(now)
        completion(answer(request, now))
    }

    public func perform(_ request: RegistrationRequest, _ completion: @escaping (RegistrationAnswer) -> Void) {
        let now = clock()
        sweep(now)
        completion(answer(request, now))
    }

    // MARK: Owners

    private func answer(_ request: RegistryRequest, _ now: Int64) -> RegistryAnswer {
        switch request {
        case .begin(let identifier, let place):
            var activity = activity(identifier, now) ?? Activity(endMilliseconds: 0)
            activity.place = place
            activity.endMilliseconds = now + retention.silenceMilliseconds
            activities[identifier] = activity
            guard let token = activity.slot.token, let at = activity.slot.atMilliseconds else { return .begun(nil) }
            return .begun(
                KeptToken(token: token, registeredAtMilliseconds: at, frequentUpdates: activity.frequentUpdates))
        case .end(let identifier, let keptMilliseconds):
            guard var activity = activity(identifier, now) else { return .done }
            activity.slot.forget()
            activity.frequentUpdates = nil
            activity.endMilliseconds = now + keptMilliseconds
            activities[identifier] = activity
            return .done
        case .startToken(let user, let app):
            let user = User(name: user, app: app)
            guard let kept = users[user], kept.endMilliseconds > now, let token = kept.slot.token,
                let at = kept.slot.atMilliseconds
            else { return .startToken(nil) }
            return .startToken(RegisteredStartToken(token: token, registeredAtMilliseconds: at))
        case .takeStart(let token, let app, let mark, let budget):
            return takeStart(Phone(token: token, app: app), mark, budget, now)
        case .forgetStartToken(let user, let app, let token, let gone):
            _ = takeBackStart(User(name: user, app: app), token, gone, now)
            return .done
        }
    }

    private func takeStart(_ phone: Phone, _ mark: StartMark, _ limit: StartBudget, _ now: Int64) -> RegistryAnswer {
        var budget = budgets[phone] ?? Budget()
        budget.starts.removeAll { $0.atMilliseconds <= now - limit.windowMilliseconds }
        defer { budgets[phone] = budget }
        if budget.starts.contains(where: { $0.mark == mark }) { return .startGranted }
        let excess = budget.starts.count - limit.starts
        guard excess < 0 else {
            // A budget of none has no start that goes.
            let first = excess < budget.starts.count ? budget.starts[excess].atMilliseconds : now
            return .startDeferred(untilMilliseconds: first + limit.windowMilliseconds)
        }
        budget.starts.append((mark, now))
        budget.endMilliseconds = now + limit.windowMilliseconds
        return .startGranted
    }

    // MARK: Registrations

    private func answer(_ request: RegistrationRequest, _ now: Int64) -> RegistrationAnswer {
        switch request {
        case .keep(let identifier, let token):
            var activity = activity(identifier, now) ?? Activity(endMilliseconds: 0)
            if let place = activity.place { return .placed(place) }
            guard activity.slot.keep(token.token, atMilliseconds: token.registeredAtMilliseconds) else {
                return .superseded
            }
            activity.frequentUpdates = token.frequentUpdates ?? activity.frequentUpdates
            activity.endMilliseconds = now + retention.unbegunMilliseconds
            activities[identifier] = activity
            return .kept
        case .takeBack(let identifier, let token, let until):
            var activity = activity(identifier, now) ?? Activity(endMilliseconds: 0)
            let isTaken = activity.slot.takeBack(token, untilMilliseconds: until)
            if activity.place == nil { activity.endMilliseconds = now + retention.unbegunMilliseconds }
            if isTaken { activities[identifier] = activity }
            if let place = activity.place { return .placed(place) }
            return isTaken ? .kept : .superseded
        case .place(let identifier):
            return activity(identifier, now)?.place.map { .placed($0) } ?? .unplaced
        case .keepStart(let user, let app, _, let token):
            let user = User(name: user, app: app)
            var slot = living(user, now)
            guard slot.keep(token.token, atMilliseconds: token.registeredAtMilliseconds) else { return .superseded }
            users[user] = (slot, now + retention.silenceMilliseconds)
            return .kept
        case .takeBackStart(let user, let app, let token, let until):
            return takeBackStart(User(name: user, app: app), token, until, now) ? .kept : .superseded
        }
    }

    private func takeBackStart(_ user: User, _ token: PushToken?, _ until: Int64, _ now: Int64) -> Bool {
        var slot = living(user, now)
        guard slot.takeBack(token, untilMilliseconds: until) else { return false }
        users[user] = (slot, now + retention.silenceMilliseconds)
        return true
    }

    // MARK: Time

    private func activity(_ identifier: [UInt8], _ now: Int64) -> Activity? {
        guard let activity = activities[identifier], activity.endMilliseconds > now else { return nil }
        return activity
    }

    private func living(_ user: User, _ now: Int64) -> TokenSlot {
        guard let kept = users[user], kept.endMilliseconds > now else { return TokenSlot() }
        return kept.slot
    }

    /// Each time that twice as many are kept as lived the last time: so it costs each request next to nothing.
    private func sweep(_ now: Int64) {
        guard count >= sweepAt else { return }
        activities = activities.filter { $0.value.endMilliseconds > now }
        users = users.filter { $0.value.endMilliseconds > now }
        budgets = budgets.filter { $0.value.endMilliseconds > now }
        sweepAt = max(Self.leastSwept, 2 * count)
    }
}
