import Flow
import Instruments
import Pacing
import RedisClient
import Registration
import Sockets
import Storage
import Streams
import Telemetry

/// Does what a member's desk is asked, on the desk's thread.
// Everything in it is touched by that thread alone, from `begin` on.
final class DeskClerk: @unchecked Sendable {
    private struct Connections {
        let loop: EventLoop
        let client: RedisClient
        let registry: RedisTokenRegistry
        let look: CheckpointLook
        let appender: any EventAppender
        let closing: LoopTimer
    }

    private let settings: DeskSettings
    private let group: GroupRunSettings
    private let mailbox: LaneMailbox
    private let instruments: ConnectionInstruments
    private let log: Log
    private let explain: MemberDesk.Explain
    /// Where keys lie of which the registry knows nothing.
    private let placement: KeyPlacement
    private var connections: Connections?
    private var isRegistryTold = false

    private static let closeMilliseconds: Int64 = 2_000

    init(
        settings: DeskSettings, group: GroupRunSettings, mailbox: LaneMailbox, instruments: ConnectionInstruments,
        log: Log,
        explain: @escaping MemberDesk.Explain
    ) {
        (self.settings, self.group, self.mailbox) = (settings, group, mailbox)
        (self.instruments, self.log, self.explain) = (instruments, log.component("desk"), explain)
        placement = KeyPlacement(partitions: group.group.partitions, hash: group.source.placementHash)
    }

    func begin(on loop: EventLoop) {
        var redis = group.redis
        redis.clientName = group.redis.clientName.map { "\($0)-desk" }
        let client = RedisClient(
            settings: redis, loop: loop, instruments: instruments.redis, log: log.component("redis"))
        let topic = group.source.topics[0]
        let appender: any EventAppender
        switch group.source {
        case .streams(let streams):
            appender = StreamAppender(
                client: client, place: group.place, topic: topic, bodyField: streams.bodyField,
                partitions: group.group.partitions)
        case .kafka(let kafka):
            guard let instruments = instruments.kafka else { preconditionFailure("a member of Kafka counts nothing") }
            appender = TopicAppender(
                settings: kafka.kafka, topic: topic, patienceMilliseconds: settings.patienceMilliseconds,
                mostWaiting: settings.mostWaiting, loop: loop, instruments: instruments, log: log.component("kafka"))
        }
        connections = Connections(
            loop: loop, client: client,
            registry: RedisTokenRegistry(client: client, place: group.place, group: group.group.name),
            look: CheckpointLook(client: client, place: group.place, group: group.group), appender: appender,
            closing: loop.timer { loop.stop() })
    }

    /// Whoever still waits is told; then the thread ends.
    func close(_ loop: EventLoop) {
        guard let connections else { return loop.stop() }
        self.connections = nil
        // What the client had open it tells in the loop's next turn.
        connections.client.close()
        connections.closing.schedule(atMilliseconds: EventLoop.currentMilliseconds() + Self.closeMilliseconds)
        connections.appender.close {
            connections.closing.schedule(atMilliseconds: EventLoop.currentMilliseconds() + 1)
        }
    }

    // MARK: Registrations

    func register(
        _ registration: UpdateTokenRegistration, _ completion: @escaping @Sendable (RegistrationOutcome) -> Void
    ) {
        guard let connections else { return completion(.unavailable(DeskWords.stopping)) }
        if let problem = settings.problem(withApp: registration.app) { return completion(.unavailable(problem)) }
        let event = TokenEvent(registration)
        connections.registry.perform(event.request) { [self] answer in
            note(connections.registry)
            switch answer {
            case .placed(let place) where place.partition < group.group.partitions && place.partition >= 0:
                append(event, key: place.key, partition: place.partition, completion)
            // Where a subject is followed from the start, only what is kept here is found; where none is, only the event.
            case .kept, .placed, .unplaced: append(event, key: event.activity, partition: nil, completion)
            case .superseded: completion(.superseded)
            case .failed: completion(.unavailable(connections.registry.problem))
            }
        }
    }

    private func append(
        _ event: TokenEvent, key: [UInt8], partition: Int32?,
        _ completion: @escaping @Sendable (RegistrationOutcome) -> Void
    ) {
        guard let connections else { return completion(.unavailable(DeskWords.stopping)) }
        connections.appender.append(event.bytes, key: key, partition: partition) { problem in
            completion(problem.map { .unavailable($0) } ?? .appended)
        }
    }

    func register(
        _ registration: StartTokenRegistration, _ completion: @escaping @Sendable (RegistrationOutcome) -> Void
    ) {
        guard let connections else { return completion(.unavailable(DeskWords.stopping)) }
        switch settings.app(registration.app) {
        case .failure(let unknown): completion(.unavailable(unknown.problem))
        case .success(let app):
            connections.registry.perform(registration.request(app: app)) { [self] answer in
                note(connections.registry)
                completion(RegistrationOutcome(stored: answer, problem: connections.registry.problem))
            }
        }
    }

    /// Each change is told once.
    private func note(_ registry: RedisTokenRegistry) {
        guard (registry.fault != nil) != isRegistryTold else { return }
        isRegistryTold = registry.fault != nil
        if let fault = registry.fault {
            log.error("registrations cannot be stored", .hint(fault.description))
        } else {
            log.info("registrations are stored again")
        }
    }

    // MARK: Questions

    func state(of activity: String, _ completion: @escaping @Sendable (StateOutcome) -> Void) {
        let identifier = Array(activity.utf8)
        findPlace(of: identifier) { [self] found in
            switch found {
            case .failure(let trouble): completion(.unavailable(trouble.problem))
            case .success(let partition):
                askLane(
                    { window in
                        window.lane.view(of: identifier, partition: partition, at: window.moment)
                    }, partition
                ) { [self] view in
                    if let view { return completion(.known(ActivityStateView(view, ageMilliseconds: 0))) }
                    readCheckpoint(of: identifier, partition) { read in
                        switch read {
                        case .failure(let trouble): completion(.unavailable(trouble.problem))
                        case .success(nil): completion(.unknown)
                        case .success(let (view, age)?):
                            completion(.known(ActivityStateView(view, ageMilliseconds: age)))
                        }
                    }
                }
            }
        }
    }

    func explanation(of activity: String, _ completion: @escaping @Sendable (ExplanationOutcome) -> Void) {
        let identifier = Array(activity.utf8)
        findPlace(of: identifier) { [self] found in
            switch found {
            case .failure(let trouble): completion(.unavailable(trouble.problem))
            case .success(let partition):
                let explain = explain
                askLane({ window in explain(identifier, partition, window) }, partition) { [self] known in
                    if let known { return completion(.known(known)) }
                    explainFromOutside(identifier, partition, completion)
                }
            }
        }
    }

    /// Of an activity that is not in this member's memory: another may own it, and knows more.
    private func explainFromOutside(
        _ identifier: [UInt8], _ partition: Int32, _ completion: @escaping @Sendable (ExplanationOutcome) -> Void
    ) {
        readCheckpoint(of: identifier, partition) { [self] read in
            switch read {
            case .failure(let trouble): completion(.unavailable(trouble.problem))
            case .success(nil): completion(.unknown)
            case .success(let (view, age)?):
                guard let connections else { return completion(.unavailable(DeskWords.stopping)) }
                connections.look.owner(of: partition) { [self] owner in
                    switch owner {
                    case .success(let owner?) where owner.member != group.group.member:
                        completion(.elsewhere(member: owner.member, address: owner.address))
                    case .success: completion(.known(view.explanationJSON(ageMilliseconds: age)))
                    case .failure(let fault): completion(.unavailable(fault.description))
                    }
                }
            }
        }
    }

    private struct Trouble: Error { let problem: String }

    /// In which partition the activity's events lie: as the registry knows since it began, else as its own id is placed.
    private func findPlace(
        of identifier: [UInt8], _ completion: @escaping (Result<Int32, Trouble>) -> Void
    ) {
        guard let connections else { return completion(.failure(Trouble(problem: DeskWords.stopping))) }
        connections.registry.perform(.place(activity: identifier)) { [self] answer in
            note(connections.registry)
            switch answer {
            case .placed(let place) where place.partition < group.group.partitions && place.partition >= 0:
                completion(.success(place.partition))
            case .failed: completion(.failure(Trouble(problem: connections.registry.problem)))
            default: completion(.success(identifier.withUnsafeBytes { placement.partition(of: $0) }))
            }
        }
    }

    /// Asks the lane if it speaks for the partition, and comes back to this thread.
    private func askLane<Answer: Sendable>(
        _ question: @escaping @Sendable (LaneWindow) -> Answer?, _ partition: Int32,
        _ completion: @escaping (Answer?) -> Void
    ) {
        guard let connections else { return completion(nil) }
        let way = connections.loop.mailbox
        let back = Back(completion)
        mailbox.ask { window in
            let answer = window.flatMap { $0.speaks(for: partition) ? question($0) : nil }
            way.submit { _ in back.completion(answer) }
        }
    }

    /// Carries a completion to the lane's thread and back.
    // Called by the desk's thread alone, from which it came.
    private final class Back<Answer>: @unchecked Sendable {
        let completion: (Answer?) -> Void
        init(_ completion: @escaping (Answer?) -> Void) { self.completion = completion }
    }

    private func readCheckpoint(
        of identifier: [UInt8], _ partition: Int32,
        _ completion: @escaping (Result<(view: ActivityView, ageMilliseconds: Int64)?, Trouble>) -> Void
    ) {
        guard let connections else { return completion(.failure(Trouble(problem: DeskWords.stopping))) }
        guard !group.isVolatile else {
            return completion(
                .failure(
                    Trouble(problem: "another member may own it, and with storage.kind: memory nobody else knows it")))
        }
        connections.look.checkpoint(of: identifier, partition: partition) { [settings] read in
            switch read {
            case .failure(let fault): completion(.failure(Trouble(problem: fault.description)))
            case .success(nil): completion(.success(nil))
            case .success(let bytes?):
                let wall = RunClock.wallMilliseconds()
                let read = bytes.withUnsafeBytes { bytes in
                    identifier.withUnsafeBytes { identifier in
                        Result { () throws(CheckpointFault) in
                            try ActivityView(
                                checkpoint: bytes, of: identifier, settings: settings.shard,
                                at: Instant(milliseconds: wall))
                        }
                    }
                }
                completion(
                    read.map { view in view.map { ($0, $0.ageMilliseconds(at: wall)) } }
                        .mapError { Trouble(problem: "its checkpoint cannot be read: \($0.explanation)") })
            }
        }
    }
}

extension GroupRunSettings.Source {
    /// How producers of the topic place keys, as far as the configuration tells (librdkafka's `partitioner`).
    var placementHash: KeyPlacement.Hash {
        guard case .kafka(let kafka) = self, let partitioner = kafka.kafka.properties["partitioner"] else {
            return .crc32
        }
        return partitioner.hasPrefix("murmur2") ? .murmur2 : .crc32
    }
}
