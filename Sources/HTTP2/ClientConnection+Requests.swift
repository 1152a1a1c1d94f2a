import CNghttp2

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
        let fieldCount = template.fields.count + request.fields.entries.count
        precondition(fieldCount <= Self.maximumFields, "\(fieldCount) fields in one request")

        let slot = slots.take()
        slot.pointee.request.append(
            UnsafeRawBufferPointer(start: request.fields.bytes, count: request.fields.byteCount))
        let bytes = slot.pointee.request.contents
        scratch.update(from: template.fields.baseAddress!, count: template.fields.count)
        let path = RequestTemplate.pathIndex
        scratch[path] = .lent(
            name: template.name(at: path), value: UnsafeRawBufferPointer(rebasing: bytes[request.path]),
            flags: Indexing.neverIndexed.flags)
        var end = template.fields.count
        for entry in request.fields.entries {
            scratch[end] = .lent(
                name: entry.name.buffer,
                value: UnsafeRawBufferPointer(rebasing: bytes[entry.offset..<entry.offset + entry.length]),
                flags: entry.flags)
            end += 1
        }
        slot.pointee.template = Unmanaged.passRetained(template)
        slot.pointee.bodyOffset = request.body.lowerBound
        slot.pointee.bodyEnd = request.body.upperBound

        let streamID: Int32
        if request.body.isEmpty {
            streamID = nghttp2_submit_request(session, nil, scratch, end, nil, slot)
        } else {
            var provider = nghttp2_data_provider(
                source: nghttp2_data_source(ptr: slot), read_callback: ClientCallbacks.readBody)
            streamID = nghttp2_submit_request(session, nil, scratch, end, &provider, slot)
        }
        guard streamID > 0 else {
            slots.free(slot)
            drain()
            return false
        }
        if slots.usedCount == 1 { becameBusy() }
        slot.pointee.tag = tag
        slot.pointee.deadlineMilliseconds = deadlineMilliseconds
        slot.pointee.streamID = streamID
        slot.pointee.state = .open
        slot.pointee.isSerialised = false
        slot.pointee.isAnswered = false
        slot.pointee.wasResetByPeer = false
        slot.pointee.isBodyTruncated = false
        slot.pointee.status = 0
        requestCount += 1
        if streamID >= options.lastUsableStreamID { drain() }
        if deadlineMilliseconds < deadlineTimer.deadlineMilliseconds ?? .max {
            deadlineTimer.schedule(atMilliseconds: deadlineMilliseconds)
        }
        loop.callAtEndOfTurn(self)
        return true
    }

    /// Gives a request up: resets its stream and completes it as `.unknown(.cancelled)`, or as `.neverWritten` if that is certain.
    /// Looks through all open requests.
    public func cancel(tag: UInt64) {
        slots.visitAll { slot in
            if slot.pointee.state == .open, slot.pointee.tag == tag { abandon(slot, .cancelled) }
        }
    }

    /// One timer for all: it looks through the open requests, and then sleeps until the earliest deadline that it saw.
    func expireRequests() {
        let now = loop.nowMilliseconds
        slots.visitAll { slot in
            if slot.pointee.state == .open, slot.pointee.deadlineMilliseconds <= now { abandon(slot, .deadline) }
        }
        var earliest = Int64.max
        slots.visitAll { slot in
            if slot.pointee.state == .open { earliest = min(earliest, slot.pointee.deadlineMilliseconds) }
        }
        if earliest < .max, phase != .closed { deadlineTimer.schedule(atMilliseconds: earliest) }
    }

    private func abandon(_ slot: UnsafeMutablePointer<StreamSlot>, _ cause: UnknownOutcome) {
        guard let session else { return }
        let outcome: RequestOutcome =
            if slot.pointee.isAnswered {
                .answered(slot.pointee.response)
            } else if slot.pointee.isSerialised {
                .unknown(cause)
            } else {
                // nghttp2 takes a request that it has not sent yet out of its queue.
                .notProcessed(.neverWritten)
            }
        nghttp2_submit_rst_stream(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), slot.pointee.streamID, HTTP2Error.cancel)
        complete(slot, outcome)
        loop.callAtEndOfTurn(self)
    }

    /// The peer allows fewer streams than nghttp2 still wants to open: back to the owner, who knows newer news or another connection.
    func giveBackUnsent() {
        guard slots.usedCount > streamLimit, let session else { return }
        slots.visitAll { slot in
            guard slot.pointee.state == .open, !slot.pointee.isSerialised else { return }
            nghttp2_submit_rst_stream(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), slot.pointee.streamID, HTTP2Error.cancel)
            complete(slot, .notProcessed(.neverWritten))
        }
    }

    /// Tells the owner, once. The slot stays taken until nghttp2 lets go of it.
    func complete(_ slot: UnsafeMutablePointer<StreamSlot>, _ outcome: RequestOutcome) {
        slot.pointee.state = .completed
        handler?.completed(self, tag: slot.pointee.tag, outcome: outcome)
    }

    /// nghttp2 has closed the stream, or will never open it. First the stream is free, then the owner hears of it, so that it can use it.
    func release(_ slot: UnsafeMutablePointer<StreamSlot>, errorCode: UInt32) {
        if slot.pointee.state == .open {
            let outcome = outcomeOfStream(slot, errorCode: errorCode)
            slots.lend(slot) { complete(slot, outcome) }
        }
        slots.free(slot)
        if isDraining, slots.usedCount == 0 { loop.callAtEndOfTurn(self) }
    }

    private func outcomeOfStream(_ slot: UnsafeMutablePointer<StreamSlot>, errorCode: UInt32) -> RequestOutcome {
        if slot.pointee.isAnswered { return .answered(slot.pointee.response) }
        // A peer that has begun to answer has processed the request, whatever it says later.
        if errorCode == HTTP2Error.refusedStream, slot.pointee.status == 0 {
            return .notProcessed(slot.pointee.streamID > goAwayLastStreamID ? .goAway : .refusedStream)
        }
        if slot.pointee.wasResetByPeer { return .unknown(.reset(errorCode: errorCode)) }
        return slot.pointee.isSerialised ? .unknown(.malformedResponse) : .notProcessed(.neverWritten)
    }

    func outcomeAtClose(_ slot: UnsafeMutablePointer<StreamSlot>) -> RequestOutcome {
        if slot.pointee.isAnswered { return .answered(slot.pointee.response) }
        if slot.pointee.streamID > goAwayLastStreamID { return .notProcessed(.goAway) }
        // Tried counts as written: TLS may have sent part of the record.
        guard slot.pointee.isSerialised, slot.pointee.outputOffset < (transport?.attemptedBytes ?? 0) else {
            return .notProcessed(.neverWritten)
        }
        return .unknown(.connectionClosed)
    }
}
