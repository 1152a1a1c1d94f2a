import Flow
import Instruments
import RedisClient
import Registration
import Sockets
import Storage

/// What the API asks of a member of a group. Registrations go where the group reads them, by connections of the desk's own, so that a busy lane
/// keeps nobody waiting and no flood of registrations keeps the lane from its work; only what is in the owner's memory is asked of the lane.
public final class MemberDesk: RunDesk {
    /// What is known of one activity of a partition that the lane speaks for, as a JSON object; nil where nothing is.
    public typealias Explain = @Sendable (_ activity: [UInt8], _ partition: Int32, LaneWindow) -> [UInt8]?

    private let clerk: DeskClerk
    private let thread: LoopThread
    private let counter: DeskCounter
    private let instruments: DeskInstruments

    private static let closeMilliseconds: Int64 = 1_000

    /// - Parameters:
    ///   - mailbox: of the member of this process.
    ///   - connections: of the same member, as nothing is declared twice.
    ///   - explain: runs on the lane's thread; nil for what the lane remembers.
    /// - Throws: a system call that failed.
    public init(
        settings: DeskSettings, group: GroupRunSettings, mailbox: LaneMailbox,
        connections: ConnectionInstruments, registry: Registry, log: Log,
        explain: Explain? = nil
    ) throws(SystemFault) {
        counter = DeskCounter(most: settings.mostWaiting)
        instruments = DeskInstruments(registry: registry)
        let clerk = DeskClerk(
            settings: settings, group: group, mailbox: mailbox, instruments: connections, log: log,
            explain: explain ?? Self.explained(by: group.group.member))
        self.clerk = clerk
        thread = try LoopThread.start(name: "desk") { clerk.begin(on: $0) }
    }

    // MARK: Registrations

    public func register(
        _ registration: UpdateTokenRegistration, _ completion: @escaping @Sendable (RegistrationOutcome) -> Void
    ) {
        guard let completion = admitted(completion) else { return }
        thread.mailbox.submit { [clerk] _ in clerk.register(registration, completion) }
    }

    public func register(
        _ registration: StartTokenRegistration, _ completion: @escaping @Sendable (RegistrationOutcome) -> Void
    ) {
        guard let completion = admitted(completion) else { return }
        thread.mailbox.submit { [clerk] _ in clerk.register(registration, completion) }
    }

    private func admitted(
        _ completion: @escaping @Sendable (RegistrationOutcome) -> Void
    ) -> (@Sendable (RegistrationOutcome) -> Void)? {
        let instruments = instruments
        return counter.admit(full: .overloaded, closed: .unavailable(DeskWords.stopping)) {
            instruments.note($0)
            completion($0)
        }
    }

    // MARK: Questions

    public func state(of activity: String, _ completion: @escaping @Sendable (StateOutcome) -> Void) {
        guard
            let completion = counter.admit(
                full: StateOutcome.unavailable(DeskWords.crowded), closed: .unavailable(DeskWords.stopping), completion)
        else { return }
        thread.mailbox.submit { [clerk] _ in clerk.state(of: activity, completion) }
    }

    public func explanation(of activity: String, _ completion: @escaping @Sendable (ExplanationOutcome) -> Void) {
        guard
            let completion = counter.admit(
                full: ExplanationOutcome.unavailable(DeskWords.crowded), closed: .unavailable(DeskWords.stopping),
                completion)
        else { return }
        thread.mailbox.submit { [clerk] _ in clerk.explanation(of: activity, completion) }
    }

    // MARK: The end

    public func refuse() { counter.refuse() }

    public func stop(withinMilliseconds: Int64) {
        counter.close(withinMilliseconds: withinMilliseconds)
        thread.mailbox.submit { [clerk] loop in clerk.close(loop) }
        thread.join()
        // Those who were not answered in time have been told meanwhile, but for answers on their way from the lane.
        counter.close(withinMilliseconds: Self.closeMilliseconds)
    }
}
