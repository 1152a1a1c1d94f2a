import Instruments
import Sockets

/// The master that Sentinels name (redis.io, "Guidelines for Redis clients with support for Redis Sentinel"): asked at the start and whenever
/// the connection to it fails or turns out to be one to a replica.
final class SentinelDirectory: Directory {
    private let surroundings: Surroundings
    private let masterName: String
    /// The one that answered last comes first.
    private var sentinels: [RedisAddress]
    private var master: RedisAddress?
    private var failure: RedisFault?
    private var inquiry: Inquiry!

    init(_ surroundings: Surroundings, _ sentinels: [RedisAddress], masterName: String) {
        self.surroundings = surroundings
        self.sentinels = sentinels
        self.masterName = masterName
        super.init()
        let settings = surroundings.settings
        inquiry = Inquiry(
            surroundings,
            greeting: Link.Greeting(
                username: settings.sentinelUsername, password: settings.sentinelPassword,
                clientName: settings.clientName),
            command: ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName],
            candidates: { [unowned self] in self.sentinels },
            onFailure: { [unowned self] in fail($0) },
            judge: { [unowned self] in judge($0, $1) })
        inquiry.ask()
    }

    override func address(of slot: HashSlot?) -> RedisAddress? { master }
    override func contains(_ address: RedisAddress) -> Bool { address == master }
    override var expectsMaster: Bool { true }
    override func doubts(_ address: RedisAddress) { inquiry.ask() }
    override func close() { inquiry.close() }

    /// With a master known, its connection says how it stands.
    override var fault: RedisFault? { master == nil ? failure : nil }

    private func judge(_ sentinel: RedisAddress, _ outcome: RedisOutcome) -> Inquiry.Judgement {
        switch outcome {
        case .reply(let reply):
            guard let host = reply[0]?.text, let port = reply[1]?.integer.flatMap({ UInt16(exactly: $0) }) else {
                return .useless(
                    RedisFault(
                        .noMaster, "Sentinel at \(sentinel) knows no master named \(masterName)",
                        remedy: "check the name against its `sentinel monitor`"))
            }
            found(RedisAddress(host, port), by: sentinel)
            return .answered
        case .refused(let refusal) where refusal.message.contains("unknown command"):
            return .useless(
                RedisFault(
                    .refused, "\(sentinel) is a Redis, not a Sentinel",
                    remedy: "give the Sentinels' addresses (port 26379 as a rule), or use redis:// with this one"))
        case .refused(let refusal):
            return .useless(
                .refusal(
                    refusal, to: "SENTINEL", at: "\(sentinel)", user: surroundings.settings.sentinelUsername))
        case .lost, .unsent:
            return .useless(RedisFault(.lost, "Sentinel at \(sentinel) did not answer", remedy: "asking the next"))
        }
    }

    private func found(_ address: RedisAddress, by sentinel: RedisAddress) {
        sentinels.removeAll { $0 == sentinel }
        sentinels.insert(sentinel, at: 0)
        failure = nil
        guard master != address else { return }
        surroundings.log.info(
            "Sentinel names a master", .field("address", address.description), .field("master", masterName),
            .field("sentinel", sentinel.description))
        master = address
        tellReaders()
    }

    private func fail(_ fault: RedisFault) {
        let problem = "no Sentinel names a master \(masterName): \(fault.problem)"
        let fault = RedisFault(fault.kind, problem, remedy: fault.remedy)
        guard failure != fault else { return }
        failure = fault
        surroundings.log.warning("no Sentinel answers", .error(fault.problem), .hint(fault.remedy))
        tellReaders()
    }
}
