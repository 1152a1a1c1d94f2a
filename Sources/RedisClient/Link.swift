import CLinux
import Glibc
import Sockets

/// One connection to one server, from the look-up of its name to its end. Answers come in the order of the commands; after the end there is
/// nothing to be had from it any more.
final class Link: EventSource {
    /// Who says hello, and what has to be true of the server.
    struct Greeting {
        var username: String?
        var password: RedisPassword?
        var clientName: String?
        var database = 0
        /// A replica answers, too, but takes no writes and may lag.
        var expectsMaster = false
    }

    enum Phase { case resolving, tcp, tls, greeting, ready, ended }

    /// A request whose answer has not come.
    struct Sent {
        /// Nil where nobody waits for the answer.
        let request: Request?
        /// Of all that entered the output: where its bytes begin.
        let begin: UInt64
        let deadlineMilliseconds: Int64

        var mostReplyBytes: Int { request?.mostReplyBytes ?? ReplyArena.mostBytes }
    }

    let loop: EventLoop
    let address: RedisAddress
    let settings: RedisSettings
    let greeting: Greeting
    // Whoever owns the link ends it before going.
    private(set) weak var owner: LinkOwner?
    var phase = Phase.resolving
    var greetingSteps: ArraySlice<GreetingStep> = []
    var candidates: ArraySlice<SocketAddress> = []
    var connectingDescriptor: Int32 = -1
    var transport: Transport?
    let replies = ReplyReader()
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    var output = Region()
    /// Of `output`, what has been written.
    var outputStart = 0
    /// All that ever entered the output.
    var producedBytes: UInt64 = 0
    var isWriteBlocked = false
    var sent = Queue<Sent>()
    var answeredCount = 0
    /// When bytes came last.
    var receivedMilliseconds: Int64 = 0
    /// Until when the answer under way may come, beyond what it was given: it, or a large one before it, was seen coming.
    private var movedDeadlineMilliseconds: Int64 = 0
    var connectDeadlineMilliseconds: Int64 = 0
    var readyMilliseconds: Int64 = 0
    private(set) var connectTimer: LoopTimer!
    private(set) var answerTimer: LoopTimer!

    init(loop: EventLoop, address: RedisAddress, settings: RedisSettings, greeting: Greeting, owner: LinkOwner) {
        self.loop = loop
        self.address = address
        self.settings = settings
        self.greeting = greeting
        self.owner = owner
        super.init()
        connectTimer = loop.timer { [unowned self] in connectTimerFired() }
        answerTimer = loop.timer { [unowned self] in answerTimerFired() }
    }

    deinit {
        output.free()
        readBuffer.deallocate()
    }

    var isReady: Bool { phase == .ready }

    // MARK: The loop

    override func ready(_ events: ReadyEvents) {
        switch phase {
        case .tcp: finishConnect()
        case .tls: continueHandshake()
        case .greeting, .ready:
            receive()
            if isWriteBlocked { flush() }
        case .resolving, .ended: return
        }
    }

    override func endOfTurn() { flush() }

    // MARK: Sending

    /// Sends at the end of the turn. Only while it is ready.
    func send(_ request: Request, _ command: borrowing RedisCommand) {
        beginSending(request)
        say(command)
    }

    /// The bytes of `request`, which it keeps where `keepsBytes`.
    func send(_ request: Request, keepsBytes: Bool) {
        var request = request
        let bytes = request.bytes
        if !keepsBytes { request.bytes = [] }
        beginSending(request)
        bytes.withUnsafeBytes { write($0) }
    }

    /// Before a command whose slot is on its way here.
    func sayAsking() {
        let deadline = EventLoop.currentMilliseconds() + settings.commandTimeoutMilliseconds
        expect(Sent(request: nil, begin: producedBytes, deadlineMilliseconds: deadline))
        say(RedisCommand("ASKING"))
    }

    func say(_ command: borrowing RedisCommand) {
        let before = output.count
        command.write(to: &output)
        producedBytes += UInt64(output.count - before)
        loop.callAtEndOfTurn(self)
    }

    func write(_ bytes: UnsafeRawBufferPointer) {
        output.append(bytes)
        producedBytes += UInt64(bytes.count)
        loop.callAtEndOfTurn(self)
    }

    private func beginSending(_ request: Request) {
        // Not the loop's time, which is that of its last turn: whoever sends between turns may have slept since.
        let deadline = EventLoop.currentMilliseconds() + request.timeoutMilliseconds
        expect(Sent(request: request, begin: producedBytes, deadlineMilliseconds: deadline))
    }

    private func expect(_ expected: Sent) {
        sent.append(expected)
        guard sent.count == 1 else { return }
        replies.limitBytes = expected.mostReplyBytes
        answerTimer.schedule(atMilliseconds: expected.deadlineMilliseconds)
    }

    /// The answer before it has come.
    func expectNext(_ next: Sent) {
        replies.limitBytes = next.mostReplyBytes
        // The timer is moved when it fires, not with each answer.
        let deadline = max(next.deadlineMilliseconds, movedDeadlineMilliseconds)
        if answerTimer.deadlineMilliseconds ?? .max > deadline { answerTimer.schedule(atMilliseconds: deadline) }
    }

    private func answerTimerFired() {
        // The thread may have been kept from its loop, and the answer lies in the socket.
        receive()
        guard phase == .ready, let first = sent.first else { return }
        let now = loop.nowMilliseconds
        if now >= first.deadlineMilliseconds, replies.isMidReply { moveDeadline(of: first) }
        let deadline = max(first.deadlineMilliseconds, movedDeadlineMilliseconds)
        guard now >= deadline else { return answerTimer.schedule(atMilliseconds: deadline) }
        end(
            RedisFault(
                .timeout, "Redis at \(address) has not answered in time",
                remedy: "look for slow commands (SLOWLOG), a saving fork or swapping there; connecting again"))
    }

    /// What is large may be on its way for longer than an answer may take, as long as some of it comes.
    private func moveDeadline(of first: Sent) {
        let timeout = settings.commandTimeoutMilliseconds
        movedDeadlineMilliseconds = min(
            receivedMilliseconds + timeout, first.deadlineMilliseconds + Link.mostTimeoutsLate * timeout)
    }

    /// No answer may come later than its time and so many times `commandTimeoutMilliseconds`, however it trickles.
    private static let mostTimeoutsLate: Int64 = 10

    // MARK: Ending

    /// The owner hears of it once, with what was sent and not answered.
    func end(_ fault: RedisFault) {
        guard phase != .ended else { return }
        phase = .ended
        connectTimer.cancel()
        answerTimer.cancel()
        loop.remove(self)
        if connectingDescriptor >= 0 { Glibc.close(connectingDescriptor) }
        connectingDescriptor = -1
        transport?.close(hasUnsent: outputStart < output.count)
        transport = nil
        let owner = owner
        self.owner = nil
        let attempted = attemptedBytes
        owner?.linkEnded(
            self, fault,
            unanswered: sent.removeAll().compactMap { sent in
                sent.request.map { LinkRemainder(request: $0, mayHaveArrived: sent.begin < attempted) }
            })
    }
}

/// A request that a link has left behind.
struct LinkRemainder {
    let request: Request
    let mayHaveArrived: Bool
}

/// What a link tells.
class LinkOwner {
    func linkReady(_ link: Link) {}
    func linkEnded(_ link: Link, _ fault: RedisFault, unanswered: [LinkRemainder]) {}
    func linkAnswered(_ link: Link, _ request: Request, _ reply: RedisReply) {}
}
