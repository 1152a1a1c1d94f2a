import CLinux
import CMicrohttpd
import Glibc

/// The listener's thread: libmicrohttpd's work, letters of other threads, and everything that has a time.
///
/// Made on the thread that listens, run and touched by the listener's thread alone afterwards; others reach it through `post`.
final class ListenerLoop: @unchecked Sendable {
    let limits: HTTPLimits
    let callbacks: HTTPListener.Callbacks
    let post: LoopPost
    let counts = ListenerCounts()
    private(set) var daemon: OpaquePointer?
    private var queues = Peer.Phase.allCases.map { _ in PeerQueue() }
    private var lingering = LingeringSockets()
    private var hangups: Hangups
    /// Clients that have hung up while some of what they sent was not read.
    private var hungUp: [Peer] = []
    /// How often in a row libmicrohttpd has said that it has work.
    private var busyTurns = 0
    private var openByAddress: [HTTPAddress: Int] = [:]
    private var isStopping = false
    private var nextSweepMilliseconds: Int64 = 0
    private var nextTickMilliseconds: Int64 = .max

    /// How exactly limits of time are kept.
    private static let sweepMilliseconds: Int64 = 250
    /// Accepted above the limit, for as long as it takes to let another one go.
    private static let overlap = 32
    /// So many busy turns in a row are no work, but a connection that does not come on.
    private static let mostBusyTurns = 16

    /// Nil, with errno, where there are no descriptors left.
    init?(limits: HTTPLimits, callbacks: HTTPListener.Callbacks, post: LoopPost) {
        guard let hangups = Hangups() else { return nil }
        self.hangups = hangups
        self.limits = limits
        self.callbacks = callbacks
        self.post = post
    }

    /// Nil, with errno, where the address cannot be had; else the port.
    func listen(on address: ListenAddress) -> UInt16? {
        daemon = address.withPointer {
            cmicrohttpd_start(
                $0, address.takesBothFamilies ? 1 : 0, ListenerLoop.daemonCallbacks,
                Unmanaged.passUnretained(self).toOpaque(), UInt32(limits.connections + ListenerLoop.overlap),
                limits.headerBytes)
        }
        return daemon.map { UInt16(cmicrohttpd_port($0)) }
    }

    static var nowMilliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    func run() {
        nameThisThread()
        blockSignals()
        let daemonDescriptor = cmicrohttpd_poll_descriptor(daemon)
        if callbacks.tickMilliseconds > 0 { nextTickMilliseconds = ListenerLoop.nowMilliseconds }
        while true {
            for letter in post.take() { read(letter) }
            if isStopping { break }
            MHD_run(daemon)
            attendHangups()
            let now = ListenerLoop.nowMilliseconds
            lingering.attend(nowMilliseconds: now)
            if now >= nextSweepMilliseconds { sweep(now) }
            if now >= nextTickMilliseconds {
                nextTickMilliseconds = now + callbacks.tickMilliseconds
                callbacks.tick()
            }
            wait(daemonDescriptor, now)
        }
        shutDown()
    }

    private func wait(_ daemonDescriptor: Int32, _ now: Int64) {
        // It never tires of a connection whose buffer is full of what has no end, the extension of a chunk for instance.
        busyTurns = cmicrohttpd_has_work(daemon) == 0 ? 0 : busyTurns + 1
        guard busyTurns == 0 || busyTurns > ListenerLoop.mostBusyTurns else { return }
        let lingeringOnes = lingering.descriptors
        var descriptors = ([daemonDescriptor, post.descriptor, hangups.descriptor] + lingeringOnes).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        var due = nextTickMilliseconds
        if counts.open > 0 || !lingeringOnes.isEmpty { due = min(due, max(nextSweepMilliseconds, now + 1)) }
        if busyTurns > 0 { due = min(due, now + 1) }
        let timeout = due == .max ? -1 : Int32(clamping: max(0, due - now))
        poll(&descriptors, nfds_t(descriptors.count), timeout)
    }

    private func read(_ letter: LoopPost.Letter) {
        switch letter {
        case .wake(let exchange):
            if let stream = exchange.stream, stream.isLost { drop(exchange.peer, .unread) }
            resume(exchange)
        case .run(let action): action()
        case .stop: isStopping = true
        }
    }

    /// Also where the thread never was.
    func shutDown() {
        post.closeForGood()
        for queue in queues {
            for peer in queue {
                guard let exchange = peer.exchange else { continue }
                peer.drop()
                resume(exchange)
            }
        }
        MHD_stop_daemon(daemon)
        daemon = nil
        lingering.closeAll()
        hangups.close()
    }

    // MARK: Connections

    func join(_ peer: Peer) {
        queues[peer.phase.rawValue].append(peer)
        counts.acceptedSoFar.add(1, ordering: .relaxed)
        counts.openNow.add(1, ordering: .relaxed)
        openByAddress[peer.address, default: 0] += 1
        hangups.watch(peer)
        if let share = limits.connectionsPerAddress, openByAddress[peer.address]! > share {
            makeRoom(for: peer) { $0.address == peer.address }
        } else if counts.open > limits.connections {
            makeRoom(for: peer) { _ in true }
        }
    }

    /// Lets the one go for which the listener has waited longest; the newcomer itself where all others have an answer under way.
    private func makeRoom(for newcomer: Peer, among isCandidate: (Peer) -> Bool) {
        for phase in [Peer.Phase.receiving, .idle] {
            for peer in queues[phase.rawValue] where !peer.isDropped && peer !== newcomer && isCandidate(peer) {
                return drop(peer, .displaced)
            }
        }
        drop(newcomer, .displaced)
    }

    func leave(_ peer: Peer) {
        queues[peer.phase.rawValue].remove(peer)
        counts.openNow.subtract(1, ordering: .relaxed)
        openByAddress[peer.address]! -= 1
        if openByAddress[peer.address] == 0 { openByAddress[peer.address] = nil }
        peer.hasLeft = true
        hangups.forget(peer)
        if peer.lingers { lingering.keep(peer.descriptor, nowMilliseconds: ListenerLoop.nowMilliseconds) }
    }

    func enter(_ phase: Peer.Phase, _ peer: Peer) {
        queues[peer.phase.rawValue].remove(peer)
        peer.phase = phase
        peer.sinceMilliseconds = ListenerLoop.nowMilliseconds
        queues[phase.rawValue].append(peer)
        if peer.hasHungUp { hungUp.append(peer) }
    }

    /// Whoever has closed its side is let go once nothing of it is left to read: the answer to what it asked is its own, a stream is not, for
    /// nobody who follows one closes a side and stays.
    private func attendHangups() {
        for peer in hangups.take() {
            peer.hasHungUp = true
            hungUp.append(peer)
        }
        guard !hungUp.isEmpty else { return }
        let considered = hungUp
        hungUp = []
        for peer in considered where !peer.hasLeft {
            switch peer.phase {
            case .receiving, .idle:
                if Hangups.unreadBytes(peer) > 0 { hungUp.append(peer) } else { letGo(peer) }
            case .streaming: letGo(peer)
            case .deciding, .sending: break
            }
        }
    }

    private func letGo(_ peer: Peer) {
        peer.drop()
        if let exchange = peer.exchange { resume(exchange) }
    }

    func drop(_ peer: Peer, _ why: ListenerCounts.Drop) {
        guard !peer.isDropped else { return }
        counts.count(why)
        peer.drop(discards: why == .unread)
        if let exchange = peer.exchange { resume(exchange) }
    }

    func suspend(_ exchange: Exchange) {
        guard !exchange.isSuspended, let connection = exchange.connection else { return }
        exchange.isSuspended = true
        MHD_suspend_connection(connection)
    }

    private func resume(_ exchange: Exchange) {
        guard exchange.isSuspended, let connection = exchange.connection else { return }
        exchange.isSuspended = false
        MHD_resume_connection(connection)
    }

    // MARK: Time

    private func sweep(_ now: Int64) {
        nextSweepMilliseconds = now + ListenerLoop.sweepMilliseconds
        dropOverdue(.receiving, after: limits.requestMilliseconds, .slow, now)
        dropOverdue(.idle, after: limits.idleMilliseconds, .idle, now)
        dropOverdue(.sending, after: limits.sendMilliseconds, .unread, now)
        for peer in overdue(.deciding, after: limits.answerMilliseconds, now) { answerOverdue(peer) }
        dropStuck()
        for peer in Array(queues[Peer.Phase.idle.rawValue]) where hasBegun(peer, now) { enter(.receiving, peer) }
        for peer in Array(queues[Peer.Phase.streaming.rawValue]) { look(at: peer, now) }
    }

    /// While libmicrohttpd goes in circles, whoever sends a chunked body and has brought none of it since the last sweep is let go.
    private func dropStuck() {
        for peer in Array(queues[Peer.Phase.receiving.rawValue]) {
            guard let exchange = peer.exchange, exchange.isChunked else { continue }
            if busyTurns > ListenerLoop.mostBusyTurns, exchange.passedBytes == exchange.passedBytesBefore {
                drop(peer, .slow)
            }
            exchange.passedBytesBefore = exchange.passedBytes
        }
    }

    private func overdue(_ phase: Peer.Phase, after limit: Int64, _ now: Int64) -> [Peer] {
        Array(queues[phase.rawValue].prefix { now - $0.sinceMilliseconds > limit })
    }

    private func dropOverdue(_ phase: Peer.Phase, after limit: Int64, _ why: ListenerCounts.Drop, _ now: Int64) {
        for peer in overdue(phase, after: limit, now) { drop(peer, why) }
    }

    /// Whether an idle client has sent something since: the first bytes of a head show nowhere else until all of its lines are there.
    private func hasBegun(_ peer: Peer, _ now: Int64) -> Bool {
        let silence = cmicrohttpd_silence(peer.descriptor)
        // The kernel counts in jiffies.
        return silence >= 0 && now - silence > peer.sinceMilliseconds + 20
    }

    private func answerOverdue(_ peer: Peer) {
        guard let exchange = peer.exchange else { return }
        let response = callbacks.refuse(.overdue)
        let isFirst = exchange.outcome.withLock { outcome in
            guard case .pending = outcome else { return false }
            outcome = .response(response)
            return true
        }
        guard isFirst else { return }
        counts.count(.overdue)
        resume(exchange)
    }

    private func look(at peer: Peer, _ now: Int64) {
        guard let stream = peer.exchange?.stream else { return }
        if stream.sleeps {
            // All that was written is in the kernel.
            peer.sinceMilliseconds = now
        } else if stream.isLost || now - peer.sinceMilliseconds > limits.sendMilliseconds {
            drop(peer, .unread)
        }
    }

    // MARK: The thread

    private func nameThisThread() {
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        let name = Array("http".utf8)
        _ = write(file, name, name.count)
        close(file)
    }

    /// Signals are for threads that wait for them; a broken pipe shows as an error of its own.
    private func blockSignals() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}
