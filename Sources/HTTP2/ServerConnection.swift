import CNghttp2
import Sockets

/// One client's connection at a `Server`, with the levers to misbehave on it.
public final class ServerConnection: EventSource {
    enum Phase { case handshake, open, silent, closed }
    private enum Manner { case afterWriting, atOnce, byReset }

    /// Counts up per server.
    public let identifier: UInt64
    public let peer: SocketAddress
    /// The handler's own.
    public var label = 0
    public internal(set) var counters = ServerConnectionCounters()
    public internal(set) var announcedStreamLimit: UInt32
    public internal(set) var acknowledgedStreamLimit: UInt32
    /// Highest stream that was accepted.
    public internal(set) var highestStreamID: Int32 = 0

    let options: Server.Options
    let loop: EventLoop
    let handler: ServerHandler
    // A connection ends in the turn after its server, if that is given up without close().
    private weak var server: Server?
    private let selectsHTTP2: Bool
    private let transport: RecordTransport
    private(set) var session: OpaquePointer?
    private let memory = SessionMemory()
    private let readBuffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: OutputBuffer.recordBytes, alignment: 16)
    private var phase = Phase.handshake
    private var pendingClose: (reason: CloseReason, manner: Manner)?
    private var isClosing = false
    private var hasSentGoAway = false
    /// Of the GOAWAY frames so far.
    private(set) var lastServedStreamID = Int32.max
    /// A limit stands in the first list until its SETTINGS frame is made, in the second until that is acknowledged.
    var limitsToFrame: [UInt32] = []
    var limitsInFlight: [UInt32] = []
    let requests = OpenRequests()
    /// Of the stream whose frames came last, while it is open.
    var newestRequest: OpenRequests.Reference?
    /// Lengths of fields are kept in 16 bits.
    let mostHeaderListBytes: Int
    /// Streams whose answer does not wait for the end of the request.
    var earlyAnswers: Set<Int32> = []
    var errorText = ""
    private var pingSecond: Int64 = 0
    private var pingsInSecond = 0

    init(server: Server, identifier: UInt64, peer: SocketAddress, transport: RecordTransport) {
        self.server = server
        self.identifier = identifier
        self.peer = peer
        self.transport = transport
        selectsHTTP2 = server.tls.selectsHTTP2
        options = server.options
        mostHeaderListBytes = min(server.options.maximumHeaderListBytes, 65_535)
        loop = server.loop
        handler = server.handler
        announcedStreamLimit = options.maxConcurrentStreams
        acknowledgedStreamLimit = options.maxConcurrentStreams
        super.init()
        if options.handshake == .hang { phase = .silent }
    }

    deinit {
        if let session { nghttp2_session_del(session) }
        readBuffer.deallocate()
    }

    public var openStreams: Int { requests.count }

    /// While true it reads and writes nothing, and stays open.
    public var isBlackHole = false {
        didSet {
            guard oldValue, !isBlackHole else { return }
            loop.resumeNextTurn(self)
            wantsToSend()
        }
    }

    // MARK: Levers

    /// Announces another stream limit. Streams above it are refused once the peer has acknowledged it.
    public func announce(maxConcurrentStreams: UInt32) {
        guard let session else { return }
        announcedStreamLimit = maxConcurrentStreams
        limitsToFrame.append(maxConcurrentStreams)
        watchSettings()
        // nghttp2 would end the connection over a stream too many; it is told that there is no limit, and the frame is corrected on its
        // way out. What is refused, and how, is decided here.
        var setting = nghttp2_settings_entry(
            settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(Int32.max))
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &setting, 1)
        wantsToSend()
    }

    /// GOAWAY. Streams above the id are forgotten. May be repeated with a lower id; the connection stays open for the rest.
    public func goAway(lastStreamID: Int32? = nil, errorCode: UInt32 = 0, debugData: [UInt8] = []) {
        guard let session else { return }
        hasSentGoAway = true
        lastServedStreamID = min(lastServedStreamID, lastStreamID ?? highestStreamID)
        // At once, though nghttp2 closes their streams only when the frame leaves.
        requests.visit { if $0.streamID > lastServedStreamID { $0.isOpen = false } }
        nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), lastServedStreamID, errorCode, debugData, debugData.count)
        wantsToSend()
    }

    /// GOAWAY, answers for what is open, then the end.
    public func closeGracefully(errorCode: UInt32 = 0, debugData: [UInt8] = []) {
        goAway(errorCode: errorCode, debugData: debugData)
        isClosing = true
    }

    /// After what is already to be written: the end of the TCP stream. Open requests stay unanswered.
    public func close() { end(.requested, .afterWriting) }

    /// TCP RST; answers that were not written yet are lost.
    public func resetTransport() { end(.requested, .byReset) }

    /// So many more bytes of HTTP/2 leave, then the TCP stream ends.
    public func cutTransport(afterOutputBytes: Int) {
        transport.output.cutAfterBytes = afterOutputBytes
        wantsToSend()
    }

    public func ping() {
        guard let session else { return }
        nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
        wantsToSend()
    }

    // MARK: Events

    public override func ready(_ events: ReadyEvents) {
        guard !isBlackHole, pendingClose == nil else { return }
        switch phase {
        case .closed: return
        case .silent: if events.contains(.hangUp) { end(.endOfFile) }
        case .handshake: continueHandshake()
        case .open: receive()
        }
        wantsToSend()
    }

    public override func endOfTurn() {
        if phase == .open, !isBlackHole, pendingClose.map({ $0.manner == .afterWriting }) ?? true { send() }
        if let pendingClose, phase != .closed { finish(pendingClose.reason, pendingClose.manner) }
    }

    func wantsToSend() { loop.callAtEndOfTurn(self) }

    private func end(_ reason: CloseReason, _ manner: Manner = .atOnce) {
        guard pendingClose == nil, phase != .closed else { return }
        pendingClose = (reason, manner)
        wantsToSend()
    }

    private func continueHandshake() {
        switch transport.tls.handshake() {
        case .pending: return
        case .failed(let reason): end(CloseReason(reason))
        case .done:
            guard selectsHTTP2 else {
                phase = .silent
                return
            }
            guard transport.tls.hasChosenHTTP2 else { return end(.alpnMissing) }
            phase = .open
            openSession()
            handler.opened(self)
            receive()
        }
    }

    private func receive() {
        guard let session else { return }
        var budget = 1_048_576
        while pendingClose == nil, !isBlackHole {
            switch transport.tls.read(into: readBuffer) {
            case .nothing: return
            case .ended(let reason): return end(CloseReason(reason))
            case .bytes(let count):
                let taken = nghttp2_session_mem_recv(
                    session, readBuffer.baseAddress!.assumingMemoryBound(to: UInt8.self), count)
                if taken < 0 {
                    return end(.protocolError(text: String(cString: nghttp2_strerror(Int32(taken)))))
                }
                budget -= count
                if budget <= 0 { return loop.resumeNextTurn(self) }
            }
        }
    }

    private func send() {
        guard let session, phase == .open else { return }
        var failure: CloseReason?
        let flush = transport.pump {
            var frame: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &frame)
            if count < 0 { failure = .protocolError(text: String(cString: nghttp2_strerror(Int32(count)))) }
            guard count > 0, let frame else { return false }
            transport.output.reserve(count).copyMemory(from: frame, byteCount: count)
            transport.output.commit(count)
            return true
        }
        if let failure { return end(failure) }
        if case .failed(let reason) = flush { return end(reason) }
        guard nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0 else { return }
        if isClosing {
            end(.drained)
        } else if !hasSentGoAway || openStreams > 0 {
            end(.protocolError(text: errorText.isEmpty ? "session ended" : errorText))
        }
    }

    private func openSession() {
        var option: OpaquePointer?
        nghttp2_option_new(&option)
        defer { nghttp2_option_del(option) }
        nghttp2_option_set_no_closed_streams(option, 1)
        // Windows are given back by hand, so that it can be left.
        nghttp2_option_set_no_auto_window_update(option, 1)
        // A client that gives up a thousand requests at once has a reason; floods are not what this server is for.
        nghttp2_option_set_stream_reset_rate_limit(option, 1_000_000, 1_000_000)
        nghttp2_option_set_max_deflate_dynamic_table_size(option, Int(options.headerTableBytes))
        nghttp2_session_server_new3(
            &session, ServerCallbacks.table, Unmanaged.passUnretained(self).toOpaque(), option, memory.functions)
        let none = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        var settings = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(Int32.max)),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), value: options.streamWindowBytes),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE.rawValue), value: options.headerTableBytes),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                value: UInt32(clamping: options.maximumHeaderListBytes)),
        ]
        limitsToFrame.append(announcedStreamLimit)
        watchSettings()
        nghttp2_submit_settings(session, none, &settings, settings.count)
        nghttp2_session_set_local_window_size(session, none, 0, Int32(clamping: options.connectionWindowBytes))
    }

    private func finish(_ reason: CloseReason, _ manner: Manner) {
        phase = .closed
        loop.remove(self)
        if manner != .byReset { transport.sayGoodbye() }
        if let session { nghttp2_session_del(session) }
        session = nil
        transport.output.reviseFrame = nil
        transport.tls.close(resetting: manner == .byReset)
        newestRequest = nil
        requests.closeAll { handler.streamClosed($0, errorCode: HTTP2Error.cancel) }
        server?.forget(self)
        handler.closed(self, reason: reason)
    }

    /// Frames are looked at while there are limits to be put into them.
    func watchSettings() {
        transport.output.reviseFrame =
            limitsToFrame.isEmpty ? nil : { [unowned self] frame, count in reviseSettings(frame, count) }
    }

    /// True while the peer stays below the limit of pings.
    func countPing() -> Bool {
        counters.pings += 1
        let second = loop.nowMilliseconds / 1_000
        if second != pingSecond {
            pingSecond = second
            pingsInSecond = 0
        }
        pingsInSecond += 1
        return pingsInSecond <= options.maximumPingsPerSecond
    }

    /// GOAWAY for something that the peer did, and the end.
    func terminate(errorCode: UInt32, text: String) {
        errorText = text
        nghttp2_session_terminate_session2(session, highestStreamID, errorCode)
        wantsToSend()
    }
}
