import Flow
import Instruments
import Registration
import Storage
import Telemetry

/// What the API asks of a run that reads recordings: all of it is answered in the lane's own turn, from memory.
public final class RecordingDesk: RunDesk {
    private let settings: DeskSettings
    private let mailbox: LaneMailbox
    private let counter: DeskCounter
    private let instruments: DeskInstruments
    private let explain: MemberDesk.Explain

    /// All records of a recording go to one lane.
    private static let partition: Int32 = 0

    /// - Parameter mailbox: of the runner of this process.
    public init(
        settings: DeskSettings, mailbox: LaneMailbox, registry: Registry,
        explain: @escaping MemberDesk.Explain = MemberDesk.explained(by: nil)
    ) {
        (self.settings, self.mailbox, self.explain) = (settings, mailbox, explain)
        counter = DeskCounter(most: settings.mostWaiting)
        instruments = DeskInstruments(registry: registry)
    }

    public func register(
        _ registration: UpdateTokenRegistration, _ completion: @escaping @Sendable (RegistrationOutcome) -> Void
    ) {
        register(completion) { [settings] window, completion in
            if let problem = settings.problem(withApp: registration.app) { return completion(.unavailable(problem)) }
            let event = TokenEvent(registration, atMilliseconds: window.registered(at: registration.atMilliseconds))
            // As with topics, so that what is told before the beginning and after it is the same in both.
            window.registry.perform(event.request) { answer in
                switch answer {
                case .superseded: completion(.superseded)
                case .failed: completion(.unavailable(window.registry.problem))
                case .kept, .placed, .unplaced:
                    let fault = event.bytes.withUnsafeBytes { window.insert?($0) }
                    completion(fault.map { .unavailable($0.explanation) } ?? .appended)
                }
            }
        }
    }

    public func register(
        _ registration: StartTokenRegistration, _ completion: @escaping @Sendable (RegistrationOutcome) -> Void
    ) {
        register(completion) { [settings] window, completion in
            let at = window.registered(at: registration.atMilliseconds)
            switch settings.app(registration.app) {
            case .failure(let unknown): completion(.unavailable(unknown.problem))
            case .success(let app):
                window.registry.perform(registration.request(app: app, atMilliseconds: at)) { answer in
                    completion(RegistrationOutcome(stored: answer, problem: window.registry.problem))
                }
            }
        }
    }

    private func register(
        _ completion: @escaping @Sendable (RegistrationOutcome) -> Void,
        _ body:
            @escaping @Sendable (LaneWindow, @escaping @Sendable (RegistrationOutcome) -> Void) -> Void
    ) {
        let instruments = instruments
        let admitted = counter.admit(full: RegistrationOutcome.overloaded, closed: .unavailable(DeskWords.stopping)) {
            instruments.note($0)
            completion($0)
        }
        guard let admitted else { return }
        mailbox.ask { window in
            guard let window else { return admitted(.unavailable(DeskWords.stopping)) }
            body(window, admitted)
        }
    }

    public func state(of activity: String, _ completion: @escaping @Sendable (StateOutcome) -> Void) {
        let admitted = counter.admit(
            full: StateOutcome.unavailable(DeskWords.crowded), closed: .unavailable(DeskWords.stopping), completion)
        guard let admitted else { return }
        let identifier = Array(activity.utf8)
        mailbox.ask { window in
            guard let window else { return admitted(.unavailable(DeskWords.stopping)) }
            let view = window.lane.view(of: identifier, partition: Self.partition, at: window.moment)
            admitted(view.map { .known(ActivityStateView($0, ageMilliseconds: 0)) } ?? .unknown)
        }
    }

    public func explanation(of activity: String, _ completion: @escaping @Sendable (ExplanationOutcome) -> Void) {
        let admitted = counter.admit(
            full: ExplanationOutcome.unavailable(DeskWords.crowded), closed: .unavailable(DeskWords.stopping),
            completion)
        guard let admitted else { return }
        let identifier = Array(activity.utf8)
        mailbox.ask { [explain] window in
            guard let window else { return admitted(.unavailable(DeskWords.stopping)) }
            admitted(explain(identifier, Self.partition, window).map { .known($0) } ?? .unknown)
        }
    }

    // MARK: The end

    public func refuse() { counter.refuse() }

    public func stop(withinMilliseconds: Int64) { counter.close(withinMilliseconds: withinMilliseconds) }
}

extension LaneWindow {
    /// A recording lives by a clock of its own, on which a registration comes when it is taken.
    fileprivate func registered(at milliseconds: Int64) -> Int64 {
        isLive ? milliseconds : moment.pacing.wallMilliseconds
    }
}
