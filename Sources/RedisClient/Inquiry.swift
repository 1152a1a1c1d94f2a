import Sockets

/// Asks one server after the other until one knows the answer, each over a connection of its own that is closed behind it; when none does,
/// begins anew after a pause that grows.
final class Inquiry: LinkOwner {
    enum Judgement {
        case answered
        /// The next may know better.
        case useless(RedisFault)
    }

    private let surroundings: Surroundings
    private let greeting: Link.Greeting
    private let command: [String]
    /// Looks at what a server says; lent until it returns.
    private let judge: (RedisAddress, RedisOutcome) -> Judgement
    /// After a round without an answer: what the last one said, and how often that has been so.
    private let onFailure: (RedisFault) -> Void
    private var candidates: () -> [RedisAddress]
    private var left: ArraySlice<RedisAddress> = []
    private var link: Link?
    private var backoff: Backoff
    private var timer: LoopTimer!
    private var isClosed = false
    private(set) var isAsking = false

    init(
        _ surroundings: Surroundings, greeting: Link.Greeting, command: [String],
        candidates: @escaping () -> [RedisAddress], onFailure: @escaping (RedisFault) -> Void,
        judge: @escaping (RedisAddress, RedisOutcome) -> Judgement
    ) {
        self.surroundings = surroundings
        self.greeting = greeting
        self.command = command
        self.candidates = candidates
        self.onFailure = onFailure
        self.judge = judge
        backoff = surroundings.backoff
        super.init()
        timer = surroundings.loop.timer { [unowned self] in begin() }
    }

    /// Asks in a turn of the loop, unless it is asking already.
    func ask() {
        guard !isAsking, !isClosed else { return }
        isAsking = true
        timer.schedule(atMilliseconds: 0)
    }

    func close() {
        isClosed = true
        timer.cancel()
        link?.end(RedisFault(.closed, "the client of Redis was closed", remedy: "nothing to do"))
    }

    private func begin() {
        left = candidates()[...]
        askNext(after: RedisFault(.noMaster, "there is no address to ask for Redis", remedy: "give at least one"))
    }

    private func askNext(after fault: RedisFault) {
        guard let address = left.popFirst() else {
            onFailure(fault)
            let delay = backoff.nextMilliseconds(using: &surroundings.generator)
            return timer.schedule(atMilliseconds: EventLoop.currentMilliseconds() + delay)
        }
        let link = Link(
            loop: surroundings.loop, address: address, settings: surroundings.settings, greeting: greeting, owner: self)
        self.link = link
        link.connect(surroundings.resolver)
    }

    override func linkReady(_ link: Link) {
        let request = Request(
            number: 0, slot: nil, timeoutMilliseconds: surroundings.settings.commandTimeoutMilliseconds,
            waitsUntilMilliseconds: .max, completion: { _ in })
        var words = RedisCommand(command[0])
        for word in command.dropFirst() { words.append(word) }
        link.send(request, words)
    }

    override func linkAnswered(_ link: Link, _ request: Request, _ reply: RedisReply) {
        let outcome: RedisOutcome = reply.kind == .error ? .refused(RedisRefusal(reply)) : .reply(reply)
        switch judge(link.address, outcome) {
        case .answered:
            isAsking = false
            backoff.reset()
            left = []
            link.end(RedisFault(.closed, "asked and answered", remedy: "nothing to do"))
        case .useless(let fault): link.end(fault)
        }
    }

    override func linkEnded(_ link: Link, _ fault: RedisFault, unanswered: [LinkRemainder]) {
        self.link = nil
        guard isAsking, !isClosed else { return }
        askNext(after: fault)
    }
}
