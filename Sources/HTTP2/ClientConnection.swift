import CLinux
import Glibc
import Sockets

/// One HTTP/2 connection to a server, on an `EventLoop`: connecting → ready → draining → closed.
///
/// It takes a request only when it can be sent now (`freeStreams`), so that what is sent is decided as late as possible; it never queues.
/// Each request that was taken is completed exactly once, whatever happens.
public final class ClientConnection: EventSource {
    public enum State: UInt8, Sendable { case connecting, ready, draining, closed }

    public struct Options: Sendable {
        /// For TCP, TLS and the peer's SETTINGS together, over all addresses.
        public var connectDeadlineMilliseconds: Int64 = 5_000
        /// Nothing heard for so long with requests open: PING.
        public var pingAfterSilenceMilliseconds: Int64 = 2_000
        /// The same without requests.
        public var idlePingMilliseconds: Int64 = 30_000
        /// Nothing heard for so long after a PING: closed as dead.
        public var pingTimeoutMilliseconds: Int64 = 5_000
        /// How long the kernel keeps trying to deliver written bytes.
        public var tcpUserTimeoutMilliseconds: Int32 = 15_000
        /// Streams allowed until `unlockStreams`, even if SETTINGS allow more: APNs allows one before the first accepted token.
        public var initialStreamLimit: UInt32 = 1
        /// Streams used at most, whatever the peer allows.
        public var maximumStreams: UInt32 = 2_000
        /// Of the HPACK tables: announced for answers, and the upper limit for requests.
        public var headerTableBytes: UInt32 = 4_096
        public var streamWindowBytes: UInt32 = 65_535
        public var connectionWindowBytes: UInt32 = 1_048_576
        /// A longer body is cut, and says so.
        public var maximumResponseBodyBytes = 65_536
        /// Once a request has an id from here on, the connection drains; ids end at 2³¹−1.
        public var lastUsableStreamID: Int32 = .max

        public init() {}
    }

    enum Phase { case waiting, tcp, tls, settings, open, closed }

    public let host: String
    /// The owner's own.
    public var label = 0

    let loop: EventLoop
    let options: Options
    let tls: TLSContext
    var handler: ClientHandler?
    var phase = Phase.waiting
    var isDraining = false
    /// Set once; the connection ends with it at the end of the turn.
    var pendingClose: CloseReason? {
        didSet { isEnding = pendingClose != nil }
    }
    /// The same, for whoever asks at each request.
    private var isEnding = false

    var addresses: ArraySlice<SocketAddress>
    var connectDeadlineMilliseconds: Int64
    var connectTimer: LoopTimer!
    var connectingDescriptor: Int32 = -1
    var connectingAddress: SocketAddress?
    var transport: RecordTransport?
    var session: ClientSession?
    /// The beginning of a frame, and one record after it.
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: FrameHeader.size + FrameHeader.largestPayload + OutputBuffer.recordBytes, alignment: 16)
    var carriedBytes = 0
    var isWriteBlocked = false
    var statisticsAtClose: ClientStatistics?

    let slots = StreamSlots()
    var isUnlocked = false
    public internal(set) var peerStreamLimit: UInt32 = 1
    var requestCount: UInt64 = 0
    var deadlineTimer: LoopTimer!
    /// Of the requests under way, or an earlier one of a request that has ended.
    var earliestDeadlineMilliseconds = Int64.max

    var healthTimer: LoopTimer!
    var lastHeardMilliseconds: Int64 = 0
    var busySinceMilliseconds: Int64 = 0
    /// The PING that nothing has been heard after.
    var ping: (sentMilliseconds: Int64, readBytes: UInt64)?
    var pingCount: UInt64 = 0

    /// Starts with the end of the loop's present (or next) turn; no event comes earlier.
    ///
    /// - Parameters:
    ///   - host: for SNI and the certificate; a name or a numeric address.
    ///   - addresses: tried in turn until one accepts TCP.
    public init(
        loop: EventLoop, host: String, addresses: [SocketAddress], tls: TLSContext, options: Options = Options(),
        handler: ClientHandler
    ) {
        self.loop = loop
        self.host = host
        self.addresses = addresses[...]
        self.tls = tls
        self.options = options
        self.handler = handler
        connectDeadlineMilliseconds = loop.nowMilliseconds + options.connectDeadlineMilliseconds
        super.init()
        connectTimer = loop.timer { [unowned self] in connectTimerFired() }
        deadlineTimer = loop.timer { [unowned self] in expireRequests() }
        healthTimer = loop.timer { [unowned self] in checkHealth() }
        loop.callAtEndOfTurn(self)
    }

    deinit {
        readBuffer.deallocate()
    }

    // MARK: What the owner may ask

    public var state: State {
        if phase == .closed || isEnding { return .closed }
        if phase != .open { return .connecting }
        return isDraining ? .draining : .ready
    }

    /// In force now: the smallest of `initialStreamLimit` (until unlocked), the peer's SETTINGS and `maximumStreams`.
    public var streamLimit: Int {
        let allowed = min(peerStreamLimit, options.maximumStreams)
        return Int(isUnlocked ? allowed : min(allowed, options.initialStreamLimit))
    }

    /// Streams that the peer may still count as open.
    public var openStreams: Int { slots.usedCount }

    /// How many requests `submit` takes right now. None unless ready, and none while the socket is full: they would wait here instead of
    /// where newer news can replace them.
    public var freeStreams: Int {
        state == .ready && !isWriteBlocked ? max(0, streamLimit - slots.usedCount) : 0
    }

    public var statistics: ClientStatistics { statisticsAtClose ?? currentStatistics() }

    /// The credential has been accepted: from here on the peer's limit alone counts.
    public func unlockStreams() {
        guard !isUnlocked else { return }
        let before = streamLimit
        isUnlocked = true
        if state == .ready, streamLimit != before { handler?.streamCapacityChanged(self) }
    }

    /// Takes no more requests; closes when the open ones have ended.
    public func drain() {
        guard !isDraining else { return }
        isDraining = true
        loop.callAtEndOfTurn(self)
    }

    /// Closes at the end of the turn; open requests are completed then.
    public func close() { end(.requested) }

    // MARK: Events

    public override func ready(_ events: ReadyEvents) {
        switch phase {
        case .waiting, .closed: return
        case .tcp: finishConnect()
        case .tls: continueHandshake()
        case .settings, .open: receive()
        }
        loop.callAtEndOfTurn(self)
    }

    public override func endOfTurn() {
        if phase == .waiting, pendingClose == nil { connectNext() }
        if pendingClose == nil { send() }
        if pendingClose == nil, isDraining, slots.usedCount == 0 { pendingClose = .drained }
        if let pendingClose, phase != .closed { finish(pendingClose) }
    }

    /// The first reason stands.
    func end(_ reason: CloseReason) {
        guard pendingClose == nil, phase != .closed else { return }
        // A peer that has said goodbye may also be the first to close.
        pendingClose = isDraining && reason == .endOfFile && slots.usedCount == 0 ? .drained : reason
        loop.callAtEndOfTurn(self)
    }

    private func currentStatistics() -> ClientStatistics {
        var statistics = ClientStatistics()
        if let transport {
            statistics.bytesRead = transport.tls.readBytes
            statistics.bytesWritten = transport.writtenBytes
            statistics.writes = transport.writes
            statistics.isResumed = transport.tls.isResumed
        }
        statistics.unreturnedWindowBytes = session?.unreturnedBytes ?? 0
        statistics.pingsSent = pingCount
        statistics.requests = requestCount
        return statistics
    }

    /// Ends everything, in an order that lets each callback see a connection that is closed.
    private func finish(_ reason: CloseReason) {
        statisticsAtClose = currentStatistics()
        phase = .closed
        ping = nil
        connectTimer.cancel()
        deadlineTimer.cancel()
        healthTimer.cancel()
        loop.remove(self)
        if connectingDescriptor >= 0 { Glibc.close(connectingDescriptor) }
        connectingDescriptor = -1
        if let transport, reason == .requested || reason == .drained {
            // Not what the session still holds: a request that was not written must not leave after it has been given back.
            transport.sayGoodbye()
        }
        slots.visitAll { slot in
            if let outcome = outcomeAtClose(slot) { conclude(slot, outcome) }
        }
        session = nil
        transport?.tls.close()
        transport = nil
        let handler = handler
        self.handler = nil
        handler?.closed(self, reason: reason)
    }
}
