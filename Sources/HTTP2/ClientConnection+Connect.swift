import CLinux
import Glibc
import Sockets

/// From an address to the peer's SETTINGS.
extension ClientConnection {
    /// TCP to the next address. Each gets its share of the time, so that one that swallows packets leaves some for the others.
    func connectNext() {
        phase = .tcp
        var lastFailure = CloseReason.noAddress
        while let address = addresses.popFirst() {
            let left = max(0, connectDeadlineMilliseconds - loop.nowMilliseconds)
            connectTimer.schedule(atMilliseconds: loop.nowMilliseconds + left / Int64(addresses.count + 1))
            do throws(SystemFault) {
                try connect(to: address)
                return
            } catch {
                lastFailure = .connectFailed(address: address.description, errorNumber: error.errorNumber)
            }
        }
        end(lastFailure)
    }

    private func connect(to address: SocketAddress) throws(SystemFault) {
        let descriptor = try Socket.make(family: address.family)
        Socket.sendAtOnce(descriptor)
        Socket.setOption(
            descriptor, level: Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, options.tcpUserTimeoutMilliseconds)
        let code = address.withSocketAddress { Glibc.connect(descriptor, $0, $1) }
        do throws(SystemFault) {
            guard code == 0 || errno == EINPROGRESS else { throw SystemFault(call: "connect") }
            connectingAddress = address
            try loop.add(self, fileDescriptor: descriptor, events: [.readable, .writable, .edgeTriggered])
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        connectingDescriptor = descriptor
    }

    func finishConnect() {
        let errorNumber = Socket.takeError(connectingDescriptor)
        guard errorNumber == 0 else { return abandonAddress(errorNumber) }
        guard isConnected(connectingDescriptor) else { return }
        do throws(TLSFault) {
            let descriptor = connectingDescriptor
            connectingDescriptor = -1
            transport = RecordTransport(
                try TLSTransport(fileDescriptor: descriptor, context: tls, connectingTo: host))
        } catch {
            return end(.tls(text: error.problem))
        }
        connectTimer.schedule(atMilliseconds: connectDeadlineMilliseconds)
        phase = .tls
        continueHandshake()
    }

    private func abandonAddress(_ errorNumber: Int32) {
        loop.remove(self)
        Glibc.close(connectingDescriptor)
        connectingDescriptor = -1
        guard !addresses.isEmpty else {
            return end(
                .connectFailed(address: connectingAddress?.description ?? host, errorNumber: errorNumber))
        }
        connectNext()
    }

    private func isConnected(_ descriptor: Int32) -> Bool {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        } == 0
    }

    func continueHandshake() {
        guard let transport else { return }
        switch transport.tls.handshake() {
        case .pending: return
        case .failed(let reason): end(CloseReason(reason))
        case .done:
            guard transport.tls.hasChosenHTTP2 else { return end(.alpnMissing) }
            session = ClientSession(slots: slots, options: options)
            phase = .settings
            lastHeardMilliseconds = loop.nowMilliseconds
            receive()
        }
    }

    func connectTimerFired() {
        switch phase {
        case .waiting, .open, .closed: return
        case .tcp:
            if addresses.isEmpty || loop.nowMilliseconds >= connectDeadlineMilliseconds {
                end(.connectDeadline(stage: .tcp))
            } else {
                abandonAddress(ETIMEDOUT)
                loop.callAtEndOfTurn(self)
            }
        case .tls: end(.connectDeadline(stage: .tls))
        case .settings: end(.connectDeadline(stage: .settings))
        }
    }
}
