/// Requests: taken, sent, completed.
extension ClientConnection {
    /// Takes a request if a stream is free; it leaves at the end of this turn.
    ///
    /// - Parameters:
    ///   - tag: comes back with the completion; the connection does not look at it.
    ///   - deadlineMilliseconds: on the loop's clock. Past it the stream is reset and the request completed as `.unknown(.deadline)`.
    /// - Returns: false if it was not taken; then nothing will be completed.
    public func submit(_ request: borrowing RequestBuffer, tag: UInt64, deadlineMilliseconds: Int64) -> Bool {
        guard freeStreams > 0, let session, let template = request.template else { return false }
        guard let slot = session.submit(request, template) else {
            drain()
            return false
        }
        slot.pointee.tag = tag
        slot.pointee.deadlineMilliseconds = deadlineMilliseconds
        if slots.usedCount == 1 { becameBusy() }
        requestCount += 1
        if slot.pointee.streamID >= options.lastUsableStreamID { drain() }
        if deadlineMilliseconds < earliestDeadlineMilliseconds {
            earliestDeadlineMilliseconds = deadlineMilliseconds
            deadlineTimer.schedule(atMilliseconds: deadlineMilliseconds)
        }
        loop.callAtEndOfTurn(self)
        return true
    }

    /// Gives a request up: resets its stream and completes it as `.unknown(.cancelled)`, or as `.neverWritten` if that is certain.
    /// Looks through all open requests.
    public func cancel(tag: UInt64) {
        // Looked for beforehand: the owner may use the tag again as soon as it hears of the first one's end.
        var wanted: [(slot: UnsafeMutablePointer<StreamSlot>, streamID: Int32)] = []
        slots.visitAll { slot in
            if slot.pointee.isUnderWay, slot.pointee.tag == tag { wanted.append((slot, slot.pointee.streamID)) }
        }
        for (slot, streamID) in wanted where slot.pointee.isUnderWay && slot.pointee.streamID == streamID {
            abandon(slot, .cancelled)
        }
    }

    /// One timer for all: it looks through the open requests, and then sleeps until the earliest deadline that it saw.
    func expireRequests() {
        let now = loop.nowMilliseconds
        slots.visitAll { slot in
            if slot.pointee.isUnderWay, slot.pointee.deadlineMilliseconds <= now { abandon(slot, .deadline) }
        }
        var earliest = Int64.max
        slots.visitAll { slot in
            if slot.pointee.isUnderWay { earliest = min(earliest, slot.pointee.deadlineMilliseconds) }
        }
        earliestDeadlineMilliseconds = earliest
        if earliest < .max, phase != .closed { deadlineTimer.schedule(atMilliseconds: earliest) }
    }

    private func abandon(_ slot: UnsafeMutablePointer<StreamSlot>, _ cause: UnknownOutcome) {
        let outcome: RequestOutcome = slot.pointee.state == .open ? .unknown(cause) : .notProcessed(.neverWritten)
        session?.reset(slot, errorCode: HTTP2Error.cancel)
        conclude(slot, outcome)
        loop.callAtEndOfTurn(self)
    }

    /// What is taken and not framed goes back to the owner, who knows newer news or another connection.
    func giveBackUnsent() {
        slots.visitAll { slot in
            if slot.pointee.state == .waiting { conclude(slot, .notProcessed(.neverWritten)) }
        }
    }

    /// The stream has ended. First it is free, then the owner hears of it, so that he can use it.
    func conclude(_ slot: UnsafeMutablePointer<StreamSlot>, _ outcome: RequestOutcome) {
        session?.forget(slot)
        slots.lend(slot) { handler?.completed(self, tag: slot.pointee.tag, outcome: outcome) }
        slots.free(slot)
        if isDraining, slots.usedCount == 0 { loop.callAtEndOfTurn(self) }
    }

    func outcomeAtClose(_ slot: UnsafeMutablePointer<StreamSlot>) -> RequestOutcome? {
        switch slot.pointee.state {
        case .free, .completed: nil
        case .waiting: .notProcessed(.neverWritten)
        case .open:
            // Tried counts as written: TLS may have sent part of the record.
            slot.pointee.outputOffset < (transport?.attemptedBytes ?? 0)
                ? .unknown(.connectionClosed) : .notProcessed(.neverWritten)
        }
    }
}

extension StreamSlot {
    /// Its outcome is still to be told.
    var isUnderWay: Bool { state == .waiting || state == .open }
}

// MARK: What the session hears

extension ClientConnection {
    func settingsReceived() {
        guard let session else { return }
        let before = streamLimit
        peerStreamLimit = session.maximumStreams
        if phase == .settings {
            phase = .open
            connectTimer.cancel()
            startHealthChecks()
            handler?.ready(self)
        } else if streamLimit != before {
            if slots.usedCount > streamLimit { giveBackUnsent() }
            handler?.streamCapacityChanged(self)
        }
    }

    func goAwayReceived(lastStreamID: Int32, errorCode: UInt32, debugData: UnsafeRawBufferPointer) {
        isDraining = true
        handler?.goAway(self, lastStreamID: lastStreamID, errorCode: errorCode, debugData: debugData)
        giveBackUnsent()
        slots.visitAll { slot in
            guard slot.pointee.state == .open, slot.pointee.streamID > lastStreamID else { return }
            conclude(slot, .notProcessed(.goAway))
        }
    }
}
