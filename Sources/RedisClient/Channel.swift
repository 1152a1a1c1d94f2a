import Instruments
import Sockets

/// Takes commands, finds the connection for each, and tells how each ended.
///
/// What cannot be sent at once waits here, in order, until a connection stands or its time is over; what was sent is kept by its link.
final class Channel: EventSource {
    let surroundings: Surroundings
    let directory: Directory
    private let shell = ChannelShell()
    private let name: String?
    private(set) var nodes: [RedisAddress: Node] = [:]
    private var waiting: [Request] = []
    private var waitTimer: LoopTimer!
    private var order = SlotOrder()
    private var lastNumber: UInt64 = 0
    /// Outcomes that are told at the end of the turn: never from within a call of their owner's.
    private var returned: [(completion: (RedisOutcome) -> Void, outcome: RedisOutcome)] = []
    private(set) var isClosed = false
    /// A connection stands, or the last one has gone.
    var onChange: () -> Void = {}
    /// Of the last command: where its keys are, if a connection is to be there before the first command is.
    private let home: HashSlot?

    init(_ surroundings: Surroundings, _ directory: Directory, home: HashSlot?, name: String?) {
        self.surroundings = surroundings
        self.directory = directory
        self.home = home
        self.name = name
        super.init()
        shell.channel = self
        waitTimer = surroundings.loop.timer { [unowned self] in serveWaiting() }
        directory.addReader(self)
        if let address = directory.address(of: home) { _ = node(address) }
    }

    // MARK: Commands

    func send(
        _ command: borrowing RedisCommand, slot: HashSlot?, timeoutMilliseconds: Int64,
        mostReplyBytes: Int = ReplyArena.mostBytes, _ completion: @escaping (RedisOutcome) -> Void
    ) {
        guard !isClosed else { return giveBack(completion, .unsent) }
        lastNumber += 1
        var request = Request(
            number: lastNumber, slot: directory.isCluster ? slot : nil, timeoutMilliseconds: timeoutMilliseconds,
            waitsUntilMilliseconds: EventLoop.currentMilliseconds()
                + surroundings.settings.commandTimeoutMilliseconds, mostReplyBytes: mostReplyBytes,
            completion: completion)
        if !directory.isCluster, waiting.isEmpty, let link = target(of: request)?.readyLink {
            return link.send(request, command)
        }
        var bytes = Region()
        command.write(to: &bytes)
        request.bytes = Array(bytes.contents)
        bytes.free()
        // Behind what waits for the same keys.
        if waiting.contains(where: { $0.slot == request.slot }) || !place(request) { wait(request) }
    }

    /// To its node, if that takes it now.
    private func place(_ request: Request) -> Bool {
        guard request.notBeforeMilliseconds <= EventLoop.currentMilliseconds(), let node = target(of: request),
            let link = node.readyLink, order.allows(request.slot, at: node.address)
        else { return false }
        if request.asks != nil { link.sayAsking() }
        if directory.isCluster { order.sent(request.slot, to: node.address) }
        link.send(request, keepsBytes: directory.isCluster)
        return true
    }

    private func target(of request: Request) -> Node? {
        if let address = request.asks { return node(address) }
        if request.slot == nil, directory.isCluster, let ready = nodes.values.first(where: { $0.readyLink != nil }) {
            return ready
        }
        return directory.address(of: request.slot).map { node($0) }
    }

    /// Nothing more comes of it where it was sent.
    func ended(_ request: Request) {
        if directory.isCluster, order.ended(request.slot), !waiting.isEmpty { serveAtEndOfTurn() }
    }

    private func node(_ address: RedisAddress) -> Node {
        if let node = nodes[address] { return node }
        let settings = surroundings.settings
        let greeting = Link.Greeting(
            username: settings.username, password: settings.password, clientName: name, database: settings.database,
            expectsMaster: directory.expectsMaster)
        let node = Node(address, surroundings, greeting: greeting, owner: shell)
        nodes[address] = node
        return node
    }

    // MARK: Waiting

    /// Among those that wait, before all that were asked for later.
    func wait(_ request: Request) {
        let place = waiting.lastIndex { $0.number < request.number }.map { $0 + 1 } ?? 0
        waiting.insert(request, at: place)
        setWaitTimer(for: request)
        serveAtEndOfTurn()
    }

    private func serveAtEndOfTurn() { surroundings.loop.callAtEndOfTurn(self) }

    private func setWaitTimer(for request: Request) {
        let isPausing = request.notBeforeMilliseconds > EventLoop.currentMilliseconds()
        let time =
            isPausing
            ? min(request.notBeforeMilliseconds, request.waitsUntilMilliseconds) : request.waitsUntilMilliseconds
        if waitTimer.deadlineMilliseconds ?? .max > time { waitTimer.schedule(atMilliseconds: time) }
    }

    /// Whoever can be sent is, those of one slot in their order; whoever has waited too long is given back.
    func serveWaiting() {
        guard !waiting.isEmpty else { return }
        let now = EventLoop.currentMilliseconds()
        var heldSlots: Set<HashSlot?> = []
        let requests = waiting
        waiting = []
        for request in requests {
            if now >= request.waitsUntilMilliseconds {
                giveBack(request, .unsent)
            } else if heldSlots.contains(request.slot) || !place(request) {
                heldSlots.insert(request.slot)
                waiting.append(request)
                setWaitTimer(for: request)
            }
        }
    }

    /// Told at the end of the turn.
    func giveBack(_ request: Request, _ outcome: RedisOutcome) { giveBack(request.completion, outcome) }

    private func giveBack(_ completion: @escaping (RedisOutcome) -> Void, _ outcome: RedisOutcome) {
        returned.append((completion, outcome))
        surroundings.loop.callAtEndOfTurn(self)
    }

    override func endOfTurn() {
        serveWaiting()
        let outcomes = returned
        returned = []
        for (completion, outcome) in outcomes {
            count(outcome)
            completion(outcome)
        }
    }

    func count(_ outcome: RedisOutcome) {
        let commands = surroundings.instruments.commands
        switch outcome {
        case .reply: commands.add(1, .replied)
        case .refused: commands.add(1, .refused)
        case .lost: commands.add(1, .lost)
        case .unsent: commands.add(1, .unsent)
        }
    }

    // MARK: What nodes and the directory tell

    fileprivate func nodeReady(_ node: Node) {
        serveWaiting()
        onChange()
    }

    fileprivate func nodeEnded(_ node: Node, _ fault: RedisFault, unanswered: [LinkRemainder]) {
        for remainder in unanswered {
            ended(remainder.request)
            if remainder.mayHaveArrived || isClosed || remainder.request.bytes.isEmpty {
                giveBack(remainder.request, remainder.mayHaveArrived ? .lost : .unsent)
            } else {
                wait(remainder.request)
            }
        }
        guard !isClosed else { return }
        if directory.contains(node.address) { directory.doubts(node.address) }
        onChange()
    }

    /// Other servers may be meant now; connections to those that are not end.
    func directoryChanged() {
        guard !isClosed else { return }
        for (address, node) in nodes where !directory.contains(address) {
            nodes[address] = nil
            node.close()
        }
        if let address = directory.address(of: home) { _ = node(address) }
        serveWaiting()
        onChange()
    }

    // MARK: State

    var status: RedisStatus {
        if isClosed {
            return .failing(RedisFault(.closed, "the client of Redis was closed", remedy: "nothing to do"))
        }
        if let fault = directory.fault { return .failing(fault) }
        guard let address = directory.address(of: home) else { return .connecting }
        let own = nodes[address]?.status ?? .connecting
        guard own == .connected else { return own }
        for node in nodes.values {
            if case .failing = node.status { return node.status }
        }
        return .connected
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        waitTimer.cancel()
        for node in nodes.values { node.close() }
        nodes = [:]
        for request in waiting { giveBack(request, .unsent) }
        waiting = []
        onChange = {}
    }
}

/// Stands between a channel and its nodes, since a channel is a source of the loop already.
private final class ChannelShell: NodeOwner {
    weak var channel: Channel?

    override func nodeReady(_ node: Node) { channel?.nodeReady(node) }
    override func nodeEnded(_ node: Node, _ fault: RedisFault, unanswered: [LinkRemainder]) {
        channel?.nodeEnded(node, fault, unanswered: unanswered)
    }
    override func nodeAnswered(_ node: Node, _ request: Request, _ reply: RedisReply) {
        guard let channel else { return }
        channel.answered(node, request, reply)
    }
}
