import Registration
import Synchronization
import Telemetry

/// A service that answers as it is told, and remembers what it was asked.
final class SettableDesk: ActivityDesk {
    struct Answers {
        var registration = RegistrationOutcome.appended
        var start = RegistrationOutcome.stored
        var states: [String: StateOutcome] = [:]
        var explanation = ExplanationOutcome.unknown
        /// Answers wait until `release`.
        var holds = false
    }

    struct Asked {
        var updates: [UpdateTokenRegistration] = []
        var starts: [StartTokenRegistration] = []
        var states: [String] = []
        var explanations: [String] = []
        var count: Int { updates.count + starts.count + states.count + explanations.count }
    }

    private struct State {
        var answers = Answers()
        var asked = Asked()
        var held: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    var asked: Asked { state.withLock { $0.asked } }
    func change(_ change: (inout Answers) -> Void) { state.withLock { change(&$0.answers) } }

    func release() {
        let held = state.withLock { state in
            state.answers.holds = false
            defer { state.held = [] }
            return state.held
        }
        for answer in held { answer() }
    }

    private func answer<Outcome: Sendable>(
        _ note: (inout Asked) -> Void, _ pick: (Answers) -> Outcome, _ completion: @escaping @Sendable (Outcome) -> Void
    ) {
        let outcome = state.withLock { state -> Outcome? in
            note(&state.asked)
            let outcome = pick(state.answers)
            guard state.answers.holds else { return outcome }
            state.held.append { completion(outcome) }
            return nil
        }
        if let outcome { completion(outcome) }
    }

    func register(
        _ registration: UpdateTokenRegistration, _ completion: @escaping @Sendable (RegistrationOutcome) -> Void
    ) {
        answer({ $0.updates.append(registration) }, { $0.registration }, completion)
    }

    func register(
        _ registration: StartTokenRegistration, _ completion: @escaping @Sendable (RegistrationOutcome) -> Void
    ) {
        answer({ $0.starts.append(registration) }, { $0.start }, completion)
    }

    func state(of activity: String, _ completion: @escaping @Sendable (StateOutcome) -> Void) {
        answer({ $0.states.append(activity) }, { $0.states[activity] ?? .unknown }, completion)
    }

    func explanation(of activity: String, _ completion: @escaping @Sendable (ExplanationOutcome) -> Void) {
        answer({ $0.explanations.append(activity) }, { $0.explanation }, completion)
    }
}
