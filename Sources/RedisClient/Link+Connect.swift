import CLinux
import Glibc
import Sockets

/// From a name to a server that listens.
extension Link {
    func connect(_ resolver: Resolver) {
        connectDeadlineMilliseconds = EventLoop.currentMilliseconds() + settings.connectTimeoutMilliseconds
        connectTimer.schedule(atMilliseconds: connectDeadlineMilliseconds)
        resolver.resolve(host: address.host, port: address.port) { [weak self] result in
            guard let self, phase == .resolving else { return }
            switch result {
            case .success(let addresses):
                candidates = addresses[...]
                phase = .tcp
                connectNext()
            case .failure(let fault):
                end(
                    RedisFault(
                        .unresolved, "cannot find the host of Redis at \(address): \(fault.text)",
                        remedy: "check the name and this machine's DNS"))
            }
        }
    }

    /// TCP to the next address. Each gets its share of the time, so that one that swallows packets leaves some for the others.
    private func connectNext(after errorNumber: Int32 = EHOSTUNREACH) {
        var errorNumber = errorNumber
        while let candidate = candidates.popFirst() {
            let now = EventLoop.currentMilliseconds()
            let left = max(0, connectDeadlineMilliseconds - now)
            connectTimer.schedule(atMilliseconds: now + left / Int64(candidates.count + 1))
            do throws(SystemFault) {
                try connect(to: candidate)
                return
            } catch {
                errorNumber = error.errorNumber
            }
        }
        end(.connectFailed(errorNumber, address))
    }

    private func connect(to candidate: SocketAddress) throws(SystemFault) {
        let descriptor = try Socket.make(family: candidate.family)
        // Anew for each connection: a socket inherits nothing from the one before it.
        Socket.sendAtOnce(descriptor)
        Socket.setOption(
            descriptor, level: Int32(IPPROTO_TCP), TCP_USER_TIMEOUT,
            Int32(clamping: max(10_000, 2 * settings.commandTimeoutMilliseconds)))
        Socket.setOption(descriptor, level: SOL_SOCKET, SO_KEEPALIVE, 1)
        Socket.setOption(descriptor, level: Int32(IPPROTO_TCP), TCP_KEEPIDLE, 15)
        Socket.setOption(descriptor, level: Int32(IPPROTO_TCP), TCP_KEEPINTVL, 5)
        let code = candidate.withSocketAddress { Glibc.connect(descriptor, $0, $1) }
        do throws(SystemFault) {
            guard code == 0 || errno == EINPROGRESS else { throw SystemFault(call: "connect") }
            try loop.add(self, fileDescriptor: descriptor, events: [.readable, .writable, .edgeTriggered])
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        connectingDescriptor = descriptor
    }

    func finishConnect() {
        let errorNumber = Socket.takeError(connectingDescriptor)
        guard errorNumber == 0 else { return abandonCandidate(errorNumber) }
        guard isConnected(connectingDescriptor) else { return }
        let descriptor = connectingDescriptor
        connectingDescriptor = -1
        connectTimer.schedule(atMilliseconds: connectDeadlineMilliseconds)
        guard let tls = settings.tls else {
            transport = .plain(descriptor)
            return greet()
        }
        do throws(TLSFault) {
            transport = .tls(
                try TLSTransport(
                    fileDescriptor: descriptor, context: tls.context, connectingTo: tls.serverName ?? address.host))
        } catch {
            return end(.ended(.tls(text: error.problem), at: .tls, address, overTLS: true))
        }
        phase = .tls
        continueHandshake()
    }

    private func abandonCandidate(_ errorNumber: Int32) {
        loop.remove(self)
        Glibc.close(connectingDescriptor)
        connectingDescriptor = -1
        connectNext(after: errorNumber)
    }

    private func isConnected(_ descriptor: Int32) -> Bool {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        } == 0
    }

    func continueHandshake() {
        guard case .tls(let tls)? = transport else { return }
        switch tls.handshake() {
        case .pending: return
        case .failed(let reason): end(.ended(reason, at: .tls, address, overTLS: true))
        case .done: greet()
        }
    }

    func connectTimerFired() {
        switch phase {
        case .tcp where loop.nowMilliseconds < connectDeadlineMilliseconds && !candidates.isEmpty:
            abandonCandidate(ETIMEDOUT)
        case .resolving, .tcp: end(.connectDeadline(.tcp, address))
        case .tls: end(.connectDeadline(.tls, address))
        case .greeting: end(.connectDeadline(.greeting, address))
        case .ready, .ended: return
        }
    }
}
