import Glibc

/// Bytes in and out, and the health of the connection.
extension ClientConnection {
    /// Bytes read in one turn before the others on the loop have theirs.
    private static let readBytesPerTurn = 1_048_576

    func receive() {
        guard let transport, let session else { return }
        var budget = Self.readBytesPerTurn
        while pendingClose == nil, session.fault == nil {
            switch transport.tls.read(into: UnsafeMutableRawBufferPointer(rebasing: readBuffer[carriedBytes...])) {
            case .nothing: return
            case .ended(let reason): return end(CloseReason(reason))
            case .bytes(let count):
                lastHeardMilliseconds = loop.nowMilliseconds
                take(carriedBytes + count, session)
                budget -= count
                if budget <= 0 { return loop.resumeNextTurn(self) }
            }
        }
    }

    /// The frames of the first `count` bytes of the buffer; what is the beginning of another one moves to its front.
    private func take(_ count: Int, _ session: ClientSession) {
        do throws(SessionFault) {
            let used = try session.receive(UnsafeRawBufferPointer(rebasing: readBuffer[..<count]), for: self)
            carriedBytes = count - used
            guard carriedBytes > 0 else { return }
            memmove(readBuffer.baseAddress!, readBuffer.baseAddress! + used, carriedBytes)
        } catch {
            session.fail(error)
        }
    }

    func send() {
        guard let transport, let session else { return }
        switch transport.pump({ session.writeNext(to: transport.output) }) {
        case .allWritten:
            let wasBlocked = isWriteBlocked
            isWriteBlocked = false
            if wasBlocked, state == .ready { handler?.streamCapacityChanged(self) }
        case .blocked: isWriteBlocked = true
        case .failed(let reason):
            // What the peer said before it went may still lie in the socket: answers, and the GOAWAY that says why.
            receive()
            end(reason)
        }
        if let fault = session.fault { end(.protocolError(text: fault.text)) }
    }

    // MARK: Health

    /// The first request after none: silence counts from here.
    func becameBusy() {
        busySinceMilliseconds = loop.nowMilliseconds
        let time = loop.nowMilliseconds + options.pingAfterSilenceMilliseconds
        if ping == nil, time < healthTimer.deadlineMilliseconds ?? .max {
            healthTimer.schedule(atMilliseconds: time)
        }
    }

    func startHealthChecks() { healthTimer.schedule(atMilliseconds: nextPingMilliseconds) }

    private var nextPingMilliseconds: Int64 {
        slots.usedCount > 0
            ? max(lastHeardMilliseconds, busySinceMilliseconds) + options.pingAfterSilenceMilliseconds
            : lastHeardMilliseconds + options.idlePingMilliseconds
    }

    func checkHealth() {
        guard phase == .open, pendingClose == nil, let session, let transport else { return }
        let now = loop.nowMilliseconds
        if let ping {
            // Anything counts as an answer: a peer that is busy answering requests is alive.
            if transport.tls.readBytes > ping.readBytes {
                self.ping = nil
            } else if now >= ping.sentMilliseconds + options.pingTimeoutMilliseconds {
                return end(.pingTimeout)
            }
        }
        if ping == nil, nextPingMilliseconds <= now {
            session.ping()
            ping = (now, transport.tls.readBytes)
            pingCount += 1
            loop.callAtEndOfTurn(self)
        }
        healthTimer.schedule(
            atMilliseconds: ping.map { $0.sentMilliseconds + options.pingTimeoutMilliseconds } ?? nextPingMilliseconds)
    }

    func pingAnswered() {
        ping = nil
        healthTimer.schedule(atMilliseconds: nextPingMilliseconds)
    }
}
