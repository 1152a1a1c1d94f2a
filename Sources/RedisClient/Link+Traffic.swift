import Sockets

/// Bytes in and out.
extension Link {
    /// Bytes read in one turn before the others on the loop have theirs.
    private static let readBytesPerTurn = 1 << 20

    func receive() {
        var budget = Self.readBytesPerTurn
        while let transport, phase != .ended {
            switch transport.read(into: readBuffer) {
            case .nothing: return
            case .ended(let reason): return end(transportEnd(reason))
            case .bytes(let count):
                receivedMilliseconds = loop.nowMilliseconds
                take(UnsafeRawBufferPointer(rebasing: readBuffer[..<count]))
                budget -= count
                if budget <= 0 { return loop.resumeNextTurn(self) }
            }
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        guard replies.feed(bytes) else { return endForProtocol("its reply is too long") }
        while phase != .ended {
            switch replies.next() {
            case .nothing: return
            case .fault(let text): return endForProtocol(text)
            case .reply(let reply):
                if phase == .greeting { greetingAnswered(reply) } else { answered(reply) }
            }
        }
    }

    private func answered(_ reply: RedisReply) {
        guard let answered = sent.popFirst() else { return end(.unasked(address)) }
        answeredCount += 1
        if let next = sent.first { expectNext(next) } else { answerTimer.cancel() }
        if let request = answered.request { owner?.linkAnswered(self, request, reply) }
    }

    private func endForProtocol(_ text: String) {
        if replies.isBeyondLimit {
            return end(
                RedisFault(
                    .protocolError, "an answer of Redis at \(address) has more than \(replies.limitBytes >> 20) MiB",
                    remedy: "look for keys that are much larger than others (redis-cli --bigkeys)"))
        }
        end(
            RedisFault(
                .protocolError, "what came from \(address) is not the protocol of Redis: \(text)",
                remedy: phase == .greeting
                    ? RedisFault.greetingRemedy(overTLS: settings.tls != nil)
                    : "check that nothing stands between here and Redis that changes what is said"))
    }

    private func transportEnd(_ reason: TransportEnd) -> RedisFault {
        .ended(reason, at: phase == .greeting ? .greeting : .ready, address, overTLS: settings.tls != nil)
    }

    func flush() {
        guard let transport, phase == .greeting || phase == .ready else { return }
        isWriteBlocked = false
        while outputStart < output.count {
            let left = UnsafeRawBufferPointer(rebasing: output.contents[outputStart...])
            switch transport.write(left) {
            case .bytes(let count): outputStart += count
            case .blocked:
                isWriteBlocked = true
                return dropWritten()
            case .failed(let reason):
                // What the server said before it went may still lie in the socket: why it went.
                receive()
                return end(transportEnd(reason))
            }
        }
        output.clear()
        outputStart = 0
    }

    /// So that a server that never quite catches up does not cost memory for what it has long read.
    private func dropWritten() {
        guard outputStart >= 1 << 20, 2 * outputStart >= output.count else { return }
        output.removeFirst(outputStart)
        outputStart = 0
    }

    /// Of all that ever entered the output, what may have reached the server: TLS may have begun one record more than it says.
    var attemptedBytes: UInt64 {
        let left = output.count - outputStart
        let begun = settings.tls == nil ? 0 : min(left, 16_384)
        return producedBytes - UInt64(left - begun)
    }
}
