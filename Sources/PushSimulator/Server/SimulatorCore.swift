import Telemetry

/// The simulator without its sockets: face, phones, journal and chance. It is guarded by one lock at the edge.
struct SimulatorCore: Sendable {
    /// What is to be done with a request that has arrived.
    enum Admission: Equatable {
        case refuseStream
        case process(afterMilliseconds: Int64)
    }

    /// How an answer goes out.
    enum Delivery: Equatable {
        case whole
        /// The connection is reset: before the answer, amid its header, after its headers.
        case resetBefore, resetAmid, resetAfter
    }

    struct Processed {
        let answer: FaceAnswer
        let number: Int
        let delivery: Delivery
    }

    /// Where a request came in.
    struct Origin {
        let connection: UInt64
        let stream: Int32
        let arrival: FaceInstant
        var warnings: [String] = []
    }

    var face: APNsFace
    var phones: PhoneModel
    var journal: Journal
    /// Tokens that phones have told their app, the newest `maxReports` of them, and the number of the first that is kept.
    private(set) var reports: [PhoneModel.TokenReport] = []
    private(set) var firstReport = 0
    var faults: FaultSettings { didSet { takeFaults() } }
    var passing = PassingFaults()
    /// As they were at the start.
    let usual: FaceSettings
    let usualPhones: PhoneSettings
    let sequenceField: FieldPath
    let topic: String
    private var registrations: ArraySlice<FleetRegistration> = []
    var random: SeededRandom
    var reordered = ReorderedPushes()

    static let maxReports = 10_000

    init(options: SimulatorServer.Options, keys: [ProviderKey]) {
        face = APNsFace(settings: options.face, keys: keys, seed: options.seed)
        phones = PhoneModel(settings: options.phones)
        faults = options.faults
        usual = options.face
        usualPhones = options.phones
        journal = Journal(writesLines: options.directory != nil, maxEntries: options.maxJournalEntries)
        sequenceField = options.sequenceField
        topic = options.bundleIdentifier + APNsFace.liveActivitySuffix
        random = SeededRandom(seed: options.seed)
        takeFaults()
    }

    // MARK: - Tokens

    /// Takes effect when the phones' clock reaches each registration's time.
    mutating func add(_ new: [FleetRegistration]) {
        let all = Array(registrations) + new
        registrations = all.sorted { $0.atMilliseconds < $1.atMilliseconds }[...]
    }

    private mutating func register(untilMilliseconds now: Int64) {
        while let next = registrations.first, next.atMilliseconds <= now {
            registrations.removeFirst()
            apply(next)
        }
    }

    private mutating func apply(_ registration: FleetRegistration) {
        let kind: TokenRegistry.Kind
        switch registration.kind {
        case .began:
            kind = .update
            phones.begin(
                updateToken: registration.token, activityIdentifier: registration.activityIdentifier,
                attributesType: registration.attributesType, atMilliseconds: registration.atMilliseconds)
        case .start(let updateToken):
            kind = .start
            phones.register(startToken: registration.token)
            phones.reserve(updateToken: updateToken, activityIdentifier: registration.activityIdentifier)
        case .replaces(let token):
            kind = .update
            phones.rotate(token, to: registration.token)
            face.tokens.replace(token, atMilliseconds: registration.atMilliseconds)
        }
        face.tokens.register(
            registration.token, kind: kind, topic: topic, environment: face.settings.environment,
            activityIdentifier: registration.activityIdentifier)
    }

    // MARK: - Requests

    mutating func admit() -> Admission {
        if random.chance(faults.refusedStreamShare) { return .refuseStream }
        if random.chance(faults.slowShare) { return .process(afterMilliseconds: faults.slowMilliseconds) }
        let spread = max(0, faults.latencyMaxMilliseconds - faults.latencyMinMilliseconds)
        return .process(afterMilliseconds: faults.latencyMinMilliseconds + Int64(random.unit() * Double(spread + 1)))
    }

    /// - Parameter isReachable: whether an answer would still find the client.
    mutating func process(
        _ request: FaceRequest, on connection: inout FaceConnection, from origin: Origin, at instant: FaceInstant,
        isReachable: Bool
    ) -> Processed {
        register(untilMilliseconds: instant.phoneMilliseconds)
        var entry = entry(of: request, from: origin)
        let delivery = isReachable ? delivery() : .whole
        let isUnread = (delivery == .resetBefore || !isReachable) && random.chance(0.5)
        if !isReachable || delivery != .whole { entry.fate = .lost }
        if isUnread {
            // The client cannot tell it from a lost answer.
            journal.append(entry)
            return Processed(
                answer: FaceAnswer(status: 0, apnsIdentifier: ""), number: entry.number, delivery: delivery)
        }
        if random.chance(faults.tokenRotationShare) { rotate(request.deviceToken, at: instant) }
        let known = face.tokens[request.deviceToken]?.activityIdentifier
        let error = injectedError(request, activityIdentifier: known)
        var answer = face.answer(
            request, on: &connection, at: instant, fault: error.map { Refusal($0.status, $0.reason) })
        if let error, answer.isInjected { answer.take(error, atMilliseconds: instant.phoneMilliseconds) }
        entry.isInjected = answer.isInjected
        entry.activityIdentifier = face.tokens[request.deviceToken]?.activityIdentifier
        entry.status = answer.status
        entry.reason = answer.reason
        entry.warnings = origin.warnings + answer.warnings
        guard let push = answer.push else {
            journal.append(entry)
            return Processed(answer: answer, number: entry.number, delivery: delivery)
        }
        guard !random.chance(faults.reorderedShare) || !reordered.holdBack(push, entry.number, at: instant) else {
            // Its verdict comes when the phone has it.
            journal.append(entry)
            return Processed(answer: answer, number: entry.number, delivery: delivery)
        }
        let outcome = phones.receive(push, number: entry.number, atMilliseconds: instant.phoneMilliseconds)
        entry.activityIdentifier = entry.activityIdentifier ?? outcome.activityIdentifier
        entry.verdict = outcome.judgements.last?.verdict
        journal.append(entry)
        take(outcome, at: instant)
        if let held = reordered.take(token: push.token) { deliver(held, at: instant) }
        return Processed(answer: answer, number: entry.number, delivery: delivery)
    }

    /// A request that the client is told was not processed.
    mutating func leaveUnprocessed(_ request: FaceRequest, from origin: Origin) {
        var entry = entry(of: request, from: origin)
        entry.fate = .unprocessed
        entry.activityIdentifier = face.tokens[request.deviceToken]?.activityIdentifier
        journal.append(entry)
    }

    private func entry(of request: FaceRequest, from origin: Origin) -> JournalEntry {
        JournalEntry(
            request, number: journal.nextNumber, connection: origin.connection, stream: origin.stream,
            sequenceField: sequenceField, at: origin.arrival)
    }

    mutating func take(_ outcome: PhoneModel.Outcome, at instant: FaceInstant) {
        for judgement in outcome.judgements { journal.amend(judgement.number, .verdict(judgement.verdict)) }
        if let token = outcome.endedToken {
            face.tokens.end(token, atMilliseconds: outcome.endedAtMilliseconds ?? instant.phoneMilliseconds)
        }
        if let token = outcome.begunToken {
            face.tokens.register(
                token, kind: .update, topic: topic, environment: face.settings.environment,
                activityIdentifier: outcome.activityIdentifier)
        }
    }

    mutating func takeReports(atMilliseconds: Int64) -> [PhoneModel.TokenReport] {
        let due = phones.takeReports(atMilliseconds: atMilliseconds)
        reports += due
        if reports.count > SimulatorCore.maxReports {
            firstReport += reports.count - SimulatorCore.maxReports
            reports.removeFirst(reports.count - SimulatorCore.maxReports)
        }
        return due
    }

    // MARK: - Chance

    private mutating func delivery() -> Delivery {
        if random.chance(faults.resetBeforeShare) { return .resetBefore }
        if random.chance(faults.resetAmidShare) { return .resetAmid }
        return random.chance(faults.resetAfterShare) ? .resetAfter : .whole
    }

    private mutating func injectedError(_ request: FaceRequest, activityIdentifier: String?) -> InjectedError? {
        guard !faults.errors.isEmpty else { return nil }
        var chance = random.unit()
        for error in faults.errors where error.concerns(request, activityIdentifier: activityIdentifier) {
            if chance < error.share { return error }
            chance -= error.share
        }
        return nil
    }
}

extension FaceAnswer {
    mutating func take(_ error: InjectedError, atMilliseconds: Int64) {
        timestampMilliseconds = error.ageMilliseconds.map { atMilliseconds - $0 }
        oddBody = error.body
        omitsIdentifier = error.omitsIdentifier
    }
}
