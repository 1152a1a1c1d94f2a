/// What can go wrong in a world.
public enum Fault: Int, CaseIterable, Sendable {
    // What a provider answers, or fails to answer.
    case acceptedLate, refused, badDeviceToken, goneBeforeRegistration, gone, goneWithoutTime
    case serverError, serverErrorForAll, throttled, answerLost, neverArrived, credentialExpired, credentialRefused
    // What becomes of connections and streams.
    case connectionLost, goAwayProcessed, goAwayNotProcessed, refusedStream, streamLimitOne, streamLimitZero, unsent
    // What happens on the way to phones, and on them.
    case deliveryReordered, tokenRotated
    /// A report of an older token comes after that of a newer one; an older token is taken back.
    case reportedLate, tokenTakenBack
    // What clocks do.
    case clockForward, clockBack
    // What producers and brokers do.
    case redelivered, producedTwice, late, absurdPosition, endedWhileUnderWay, restarted, lifeOver
    /// Another activity takes its place.
    case replaced

    /// Those that strike single pushes.
    static let ofPushes: [Fault] = [
        .acceptedLate, .refused, .badDeviceToken, .goneBeforeRegistration, .gone, .goneWithoutTime, .serverError,
        .throttled, .answerLost, .neverArrived, .credentialExpired, .refusedStream, .connectionLost,
        .goAwayProcessed, .goAwayNotProcessed,
    ]

    public var name: String {
        var name = ""
        for character in String(describing: self) {
            if character.isUppercase { name += "_" + character.lowercased() } else { name.append(character) }
        }
        return name
    }
}

/// What an activity was doing when a fault met it.
public enum Situation: Int, CaseIterable, Sendable {
    case idle
    /// Something waits for a gate, for a stream or for a target.
    case held
    case inFlight
    /// In flight, and something newer waits.
    case inFlightBehind
    case waitingRetry
    case waitingRetryBehind
    /// The end is in flight or waits for a retry.
    case ending
    case ended

    public var name: String {
        switch self {
        case .idle: "idle"
        case .held: "held"
        case .inFlight: "in flight"
        case .inFlightBehind: "in flight+"
        case .waitingRetry: "retry"
        case .waitingRetryBehind: "retry+"
        case .ending: "ending"
        case .ended: "ended"
        }
    }
}

/// How often each fault was met, by the situation of the activity that it met.
public struct Coverage: Equatable, Sendable {
    private var counts = [Int](repeating: 0, count: Fault.allCases.count * Situation.allCases.count)

    public init() {}

    public subscript(fault: Fault, situation: Situation) -> Int {
        get { counts[fault.rawValue * Situation.allCases.count + situation.rawValue] }
        set { counts[fault.rawValue * Situation.allCases.count + situation.rawValue] = newValue }
    }

    public subscript(fault: Fault) -> Int { Situation.allCases.reduce(0) { $0 + self[fault, $1] } }

    public mutating func add(_ other: Coverage) {
        for place in counts.indices { counts[place] += other.counts[place] }
    }

    /// A table: a row a fault, a column a situation.
    public var lines: [String] {
        let width = 10
        func cell(_ text: String) -> String { String(repeating: " ", count: max(1, width - text.count)) + text }
        func row(_ name: String, _ cells: [String]) -> String {
            name + String(repeating: " ", count: max(1, 26 - name.count)) + cells.map(cell).joined()
        }
        let head = row("fault", Situation.allCases.map(\.name) + ["all"])
        return [head]
            + Fault.allCases.map { fault in
                let numbers = Situation.allCases.map { self[fault, $0] } + [self[fault]]
                return row(fault.name, numbers.map { $0 == 0 ? "." : String($0) })
            }
    }
}
