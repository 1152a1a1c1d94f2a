import Instruments
import Sockets

/// Who owns which slot of a Redis Cluster: read with CLUSTER SLOTS at the start, after each MOVED and whenever a node fails.
final class ClusterDirectory: Directory {
    private static let nobody = UInt16.max

    private let surroundings: Surroundings
    private let seeds: [RedisAddress]
    private var owners = [UInt16](repeating: ClusterDirectory.nobody, count: HashSlot.count)
    private var masters: [RedisAddress] = []
    /// Nodes that commands were sent to with ASK: they may own nothing yet.
    private var guests: Set<RedisAddress> = []
    private var failure: RedisFault?
    private var inquiry: Inquiry!

    init(_ surroundings: Surroundings, _ seeds: [RedisAddress]) {
        self.surroundings = surroundings
        self.seeds = seeds
        super.init()
        let settings = surroundings.settings
        inquiry = Inquiry(
            surroundings,
            greeting: Link.Greeting(
                username: settings.username, password: settings.password, clientName: settings.clientName),
            command: ["CLUSTER", "SLOTS"],
            // What was learned first: the seeds may be long gone.
            candidates: { [unowned self] in masters.shuffled() + self.seeds.filter { !masters.contains($0) } },
            onFailure: { [unowned self] in fail($0) },
            judge: { [unowned self] in judge($0, $1) })
        inquiry.ask()
    }

    override var isCluster: Bool { true }
    override var fault: RedisFault? { failure }
    override func doubts(_ address: RedisAddress) { inquiry.ask() }
    override func close() { inquiry.close() }
    override func contains(_ address: RedisAddress) -> Bool { masters.contains(address) || guests.contains(address) }

    override func address(of slot: HashSlot?) -> RedisAddress? {
        guard let slot else { return masters.first }
        let owner = owners[Int(slot.number)]
        return owner == Self.nobody ? nil : masters[Int(owner)]
    }

    override func moved(_ slot: HashSlot, to address: RedisAddress) {
        owners[Int(slot.number)] = number(of: address)
        inquiry.ask()
    }

    override func welcome(_ address: RedisAddress) { guests.insert(address) }

    private func number(of address: RedisAddress) -> UInt16 {
        if let known = masters.firstIndex(of: address) { return UInt16(known) }
        masters.append(address)
        return UInt16(masters.count - 1)
    }

    private func judge(_ node: RedisAddress, _ outcome: RedisOutcome) -> Inquiry.Judgement {
        guard case .reply(let reply) = outcome else {
            guard case .refused(let refusal) = outcome else {
                return .useless(RedisFault(.lost, "Redis at \(node) did not answer", remedy: "asking the next"))
            }
            if refusal.code == "ERR" {
                return .useless(
                    RedisFault(
                        .cluster, "Redis at \(node) is not part of a cluster (\(refusal))",
                        remedy: "address it as a single server, or start it with cluster-enabled yes"))
            }
            return .useless(
                .refusal(refusal, to: "CLUSTER SLOTS", at: "\(node)", user: surroundings.settings.username))
        }
        let before = (owners, masters)
        masters = []
        owners = [UInt16](repeating: Self.nobody, count: HashSlot.count)
        for range in reply { take(range, from: node) }
        let missing = owners.count { $0 == Self.nobody }
        guard missing == 0 else {
            // As far as it goes; and somebody else may know more.
            let fault = RedisFault(
                .cluster, "the cluster of \(node) has no node for \(missing) of \(HashSlot.count) slots",
                remedy: "see CLUSTER INFO there; assign the slots or bring their node back")
            if masters.isEmpty { (owners, masters) = before }
            fail(fault)
            return .useless(fault)
        }
        failure = nil
        tellReaders()
        return .answered
    }

    /// `[first slot, last slot, [host, port, …] of the master, replicas …]`
    private func take(_ range: RedisReply, from node: RedisAddress) {
        guard let first = range[0]?.integer, let last = range[1]?.integer, first >= 0, first <= last,
            last < HashSlot.count, let master = range[2],
            let port = master[1]?.integer.flatMap({ UInt16(exactly: $0) })
        else { return }
        // A node that does not know its own name leaves it out: it is the one that was asked.
        let host = master[0]?.text.flatMap { $0.isEmpty || $0 == "?" ? nil : $0 } ?? node.host
        let owner = number(of: RedisAddress(host, port))
        for slot in Int(first)...Int(last) { owners[slot] = owner }
    }

    private func fail(_ fault: RedisFault) {
        guard failure != fault else { return }
        failure = fault
        surroundings.log.warning("no map of the cluster", .error(fault.problem), .hint(fault.remedy))
        tellReaders()
    }
}
