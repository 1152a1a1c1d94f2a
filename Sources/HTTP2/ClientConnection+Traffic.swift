import CNghttp2

/// Bytes in and out, and the health of the connection.
extension ClientConnection {
    /// Bytes read in one turn before the others on the loop have theirs.
    private static let readBytesPerTurn = 1_048_576

    func receive() {
        guard let transport, let session else { return }
        var budget = Self.readBytesPerTurn
        while pendingClose == nil {
            switch transport.read(into: readBuffer) {
            case .nothing: return
            case .ended(let reason): return end(reason)
            case .bytes(let count):
                lastHeardMilliseconds = loop.nowMilliseconds
                let taken = nghttp2_session_mem_recv(
                    session, readBuffer.baseAddress!.assumingMemoryBound(to: UInt8.self), count)
                if taken < 0 { return end(.protocolError(text: text(ofError: Int32(taken)))) }
                budget -= count
                if budget <= 0 { return loop.resumeNextTurn(self) }
            }
        }
    }

    func send() {
        guard let transport, let session else { return }
        switch transport.pump(session) {
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
        // nghttp2 wants no more only when it has sent a GOAWAY for an error of the peer's, or when all is done after one received; and in
        // that case draining says so by itself.
        if pendingClose == nil, nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0,
            !isDraining || slots.usedCount > 0
        {
            end(.protocolError(text: errorText.isEmpty ? "session ended" : errorText))
        }
    }

    private func text(ofError code: Int32) -> String {
        errorText.isEmpty ? String(cString: nghttp2_strerror(code)) : errorText
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
            if transport.readBytes > ping.readBytes {
                self.ping = nil
            } else if now >= ping.sentMilliseconds + options.pingTimeoutMilliseconds {
                return end(.pingTimeout)
            }
        }
        if ping == nil, nextPingMilliseconds <= now {
            nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
            ping = (now, transport.readBytes)
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
