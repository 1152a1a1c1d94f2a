import Instruments
import Sockets

/// What all connections of a client share.
final class Surroundings {
    let loop: EventLoop
    let resolver: Resolver
    let settings: RedisSettings
    let log: Log
    let instruments: RedisInstruments
    var generator = SystemRandomNumberGenerator()

    init(loop: EventLoop, settings: RedisSettings, log: Log, instruments: RedisInstruments) {
        self.loop = loop
        resolver = Resolver(loop: loop)
        self.settings = settings
        self.log = log
        self.instruments = instruments
    }

    var backoff: Backoff {
        Backoff(
            firstMilliseconds: settings.reconnectDelayMilliseconds,
            mostMilliseconds: settings.reconnectDelayMaxMilliseconds)
    }
}

/// What a node tells.
class NodeOwner {
    func nodeReady(_ node: Node) {}
    func nodeEnded(_ node: Node, _ fault: RedisFault, unanswered: [LinkRemainder]) {}
    func nodeAnswered(_ node: Node, _ request: Request, _ reply: RedisReply) {}
}

/// One server that is to be connected to, for as long as it takes: link after link, with growing pauses between those that fail.
final class Node: LinkOwner {
    let address: RedisAddress
    private let surroundings: Surroundings
    private let greeting: Link.Greeting
    private weak var owner: NodeOwner?
    private(set) var link: Link?
    private(set) var status = RedisStatus.connecting
    private var backoff: Backoff
    private var retryTimer: LoopTimer!
    private var isClosed = false

    init(_ address: RedisAddress, _ surroundings: Surroundings, greeting: Link.Greeting, owner: NodeOwner) {
        self.address = address
        self.surroundings = surroundings
        self.greeting = greeting
        self.owner = owner
        backoff = surroundings.backoff
        super.init()
        retryTimer = surroundings.loop.timer { [unowned self] in connect() }
        // In a turn of the loop, and not while whoever makes it is still being made.
        retryTimer.schedule(atMilliseconds: 0)
    }

    /// The link that takes commands now.
    var readyLink: Link? {
        guard let link, link.isReady, !isRetiring else { return nil }
        return link
    }

    /// It turned out to be the wrong one: it takes no more, and ends when all that was sent has been answered.
    private(set) var isRetiring = false

    func retire(_ fault: RedisFault) {
        guard link != nil, !isRetiring else { return }
        isRetiring = true
        retirement = fault
        endRetired()
    }

    private var retirement: RedisFault?

    private func endRetired() {
        guard let retirement, let link, link.sent.isEmpty else { return }
        link.end(retirement)
    }

    private func connect() {
        guard !isClosed, link == nil else { return }
        isRetiring = false
        retirement = nil
        let link = Link(
            loop: surroundings.loop, address: address, settings: surroundings.settings, greeting: greeting, owner: self)
        self.link = link
        link.connect(surroundings.resolver)
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        retryTimer.cancel()
        link?.end(RedisFault(.closed, "the connection to Redis at \(address) was closed", remedy: "nothing to do"))
    }

    override func linkReady(_ link: Link) {
        surroundings.instruments.connections.add(1, .opened)
        let isBack = if case .failing = status { true } else { false }
        surroundings.log.write(
            isBack ? .warning : .info, isBack ? "connected to Redis again" : "connected to Redis",
            [.field("address", address.description)])
        status = .connected
        owner?.nodeReady(self)
    }

    override func linkAnswered(_ link: Link, _ request: Request, _ reply: RedisReply) {
        owner?.nodeAnswered(self, request, reply)
        if isRetiring { endRetired() }
    }

    override func linkEnded(_ link: Link, _ fault: RedisFault, unanswered: [LinkRemainder]) {
        self.link = nil
        if !isClosed { note(fault, of: link) }
        owner?.nodeEnded(self, fault, unanswered: unanswered)
        guard !isClosed else { return }
        // One that greets and then drops everybody is not asked at once, again and again.
        if link.answeredCount > 0 { backoff.reset() }
        let delay = backoff.nextMilliseconds(using: &surroundings.generator)
        retryTimer.schedule(atMilliseconds: EventLoop.currentMilliseconds() + delay)
    }

    private func note(_ fault: RedisFault, of link: Link) {
        let wasReady = link.readyMilliseconds > 0
        surroundings.instruments.connections.add(1, wasReady ? .lost : .failed)
        // One line a change: a server that is down for an hour is not worth a thousand.
        if status != .failing(fault) {
            surroundings.log.warning(
                "no connection to Redis", .field("address", address.description), .error(fault.problem),
                .hint(fault.remedy))
        }
        status = .failing(fault)
    }
}
