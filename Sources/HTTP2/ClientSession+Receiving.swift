/// Frames that come, and those of them that belong to streams.
extension ClientSession {
    /// Takes all whole frames.
    ///
    /// - Returns: how many bytes that was; the rest is the beginning of a frame, and is to be given again with what follows.
    func receive(_ bytes: UnsafeRawBufferPointer, for connection: ClientConnection) throws(SessionFault) -> Int {
        guard let start = bytes.baseAddress else { return 0 }
        var offset = 0
        while bytes.count - offset >= FrameHeader.size {
            let frame = FrameHeader(reading: start + offset)
            guard frame.length <= FrameHeader.largestPayload else {
                throw SessionFault(HTTP2Error.frameSizeError, "a frame of \(frame.length) bytes")
            }
            guard bytes.count - offset - FrameHeader.size >= frame.length else { break }
            let payload = UnsafeRawBufferPointer(start: start + offset + FrameHeader.size, count: frame.length)
            try receive(frame, payload, connection)
            offset += FrameHeader.size + frame.length
            guard control.left <= Self.longestControl else {
                throw SessionFault(HTTP2Error.enhanceYourCalm, "the peer asks and does not read the answers")
            }
        }
        return offset
    }

    private func receive(
        _ frame: FrameHeader, _ payload: UnsafeRawBufferPointer, _ connection: ClientConnection
    ) throws(SessionFault) {
        let type = FrameType(rawValue: frame.type)
        guard hasSettings || type == .settings && !frame.flags.contains(.acknowledgement) else {
            throw SessionFault(HTTP2Error.protocolError, "the first frame is no SETTINGS")
        }
        guard blockStreamID == 0 || type == .continuation && frame.streamID == blockStreamID else {
            throw SessionFault(HTTP2Error.protocolError, "a frame amid a header block")
        }
        switch type {
        case .data: try receiveData(frame, payload, connection)
        case .headers: try receiveHeaders(frame, payload, connection)
        case .continuation: try receiveContinuation(frame, payload, connection)
        case .resetStream: try receiveReset(frame, payload, connection)
        case .settings: try receiveSettings(frame, payload, connection)
        case .ping: try receivePing(frame, payload, connection)
        case .goAway: try receiveGoAway(frame, payload, connection)
        case .windowUpdate: try receiveWindowUpdate(frame, payload)
        case .pushPromise: throw SessionFault(HTTP2Error.protocolError, "PUSH_PROMISE, though it is forbidden")
        case .priority:
            guard frame.streamID != 0 else { throw SessionFault(HTTP2Error.protocolError, "PRIORITY on stream 0") }
            guard frame.length == 5 else { throw SessionFault(HTTP2Error.frameSizeError, "PRIORITY of a wrong size") }
        // Extensions that this client does not know (section 4.1).
        case nil: break
        }
    }

    /// The slot of a stream, or nil when it has ended here.
    func slot(of frame: FrameHeader) throws(SessionFault) -> UnsafeMutablePointer<StreamSlot>? {
        guard frame.streamID > 0, frame.streamID <= lastFramedStreamID, frame.streamID & 1 == 1 else {
            throw SessionFault(
                HTTP2Error.protocolError, "a frame of type \(frame.type) on stream \(frame.streamID), which is not open"
            )
        }
        return streams.slot(of: frame.streamID).map { slots[$0] }
    }

    // MARK: HEADERS

    private func receiveHeaders(
        _ frame: FrameHeader, _ payload: UnsafeRawBufferPointer, _ connection: ClientConnection
    ) throws(SessionFault) {
        let slot = try slot(of: frame)
        var fragment = try withoutPadding(frame, payload)
        if frame.flags.contains(.priority) {
            guard fragment.count >= 5 else { throw SessionFault(HTTP2Error.frameSizeError, "HEADERS too short") }
            fragment = UnsafeRawBufferPointer(rebasing: fragment[5...])
        }
        let endsStream = frame.flags.contains(.endStream)
        if frame.flags.contains(.endHeaders) { return try take(fragment, of: slot, endsStream, connection) }
        block.clear()
        block.append(fragment)
        blockStreamID = frame.streamID
        blockEndsStream = endsStream
        blockContinuations = 0
    }

    private func receiveContinuation(
        _ frame: FrameHeader, _ payload: UnsafeRawBufferPointer, _ connection: ClientConnection
    ) throws(SessionFault) {
        guard blockStreamID != 0 else { throw SessionFault(HTTP2Error.protocolError, "CONTINUATION of nothing") }
        blockContinuations += 1
        guard block.count + payload.count <= Self.longestHeaderBlock, blockContinuations <= Self.mostContinuations
        else { throw SessionFault(HTTP2Error.enhanceYourCalm, "a header block without end") }
        block.append(payload)
        guard frame.flags.contains(.endHeaders) else { return }
        blockStreamID = 0
        try take(block.contents, of: try slot(of: frame), blockEndsStream, connection)
    }

    private func take(
        _ block: UnsafeRawBufferPointer, of slot: UnsafeMutablePointer<StreamSlot>?, _ endsStream: Bool,
        _ connection: ClientConnection
    ) throws(SessionFault) {
        let isTrailer = slot?.pointee.answer.isFinal ?? false
        let isWellFormed = try decoder.decode(block, into: slot)
        guard let slot else { return }
        // Neither an interim answer nor the beginning of trailers may be the end, or not be it.
        guard isWellFormed, isTrailer ? endsStream : slot.pointee.answer.isFinal || !endsStream else {
            return breakOff(slot, connection)
        }
        if endsStream { finish(slot, connection) }
    }

    // MARK: DATA

    private func receiveData(
        _ frame: FrameHeader, _ payload: UnsafeRawBufferPointer, _ connection: ClientConnection
    ) throws(SessionFault) {
        let slot = try slot(of: frame)
        let data = try withoutPadding(frame, payload)
        // Padding counts, and so does what nobody waits for any more (section 6.9).
        unreturnedBytes += payload.count
        guard unreturnedBytes <= connectionWindow else {
            throw SessionFault(HTTP2Error.flowControlError, "more than the connection's window")
        }
        if 2 * unreturnedBytes >= connectionWindow {
            control.add { $0.appendWindowUpdate(0, by: unreturnedBytes) }
            unreturnedBytes = 0
        }
        guard let slot else { return }
        slot.pointee.answer.receivedBytes += Int64(data.count)
        let promised = slot.pointee.answer.promisedBytes
        guard slot.pointee.answer.isFinal, promised < 0 || slot.pointee.answer.receivedBytes <= promised else {
            return breakOff(slot, connection)
        }
        try account(payload.count, to: slot, isLast: frame.flags.contains(.endStream))
        let room = max(0, options.maximumResponseBodyBytes - slot.pointee.responseBody.count)
        if data.count > room { slot.pointee.answer.isBodyTruncated = true }
        slot.pointee.responseBody.append(UnsafeRawBufferPointer(rebasing: data[..<min(room, data.count)]))
        if frame.flags.contains(.endStream) { finish(slot, connection) }
    }

    private func account(
        _ count: Int, to slot: UnsafeMutablePointer<StreamSlot>, isLast: Bool
    ) throws(SessionFault) {
        let window = Int(options.streamWindowBytes)
        slot.pointee.unreturnedBytes += count
        // Until it has acknowledged SETTINGS the peer counts from the standard window.
        guard slot.pointee.unreturnedBytes <= (isAcknowledged ? window : max(window, Self.standardWindow)) else {
            throw SessionFault(HTTP2Error.flowControlError, "more than a stream's window")
        }
        if !isLast, 2 * slot.pointee.unreturnedBytes >= window, slot.pointee.unreturnedBytes > 0 {
            control.add { $0.appendWindowUpdate(slot.pointee.streamID, by: slot.pointee.unreturnedBytes) }
            slot.pointee.unreturnedBytes = 0
        }
    }

    private func withoutPadding(
        _ frame: FrameHeader, _ payload: UnsafeRawBufferPointer
    ) throws(SessionFault) -> UnsafeRawBufferPointer {
        guard frame.flags.contains(.padded) else { return payload }
        guard let padding = payload.first, Int(padding) < payload.count else {
            throw SessionFault(HTTP2Error.protocolError, "padding longer than its frame")
        }
        return UnsafeRawBufferPointer(rebasing: payload[1..<payload.count - Int(padding)])
    }

    // MARK: The end of a stream

    private func finish(_ slot: UnsafeMutablePointer<StreamSlot>, _ connection: ClientConnection) {
        let answer = slot.pointee.answer
        guard answer.promisedBytes < 0 || answer.promisedBytes == answer.receivedBytes || answer.isWithoutContent else {
            return breakOff(slot, connection)
        }
        // Answered before the request was complete (413): what is left of it helps nobody.
        if slot.pointee.bodyLeft > 0 { reset(slot, errorCode: HTTP2Error.cancel) }
        connection.conclude(slot, .answered(slot.pointee.response))
    }

    private func breakOff(_ slot: UnsafeMutablePointer<StreamSlot>, _ connection: ClientConnection) {
        reset(slot, errorCode: HTTP2Error.protocolError)
        connection.conclude(slot, .unknown(.malformedResponse))
    }

    private func receiveReset(
        _ frame: FrameHeader, _ payload: UnsafeRawBufferPointer, _ connection: ClientConnection
    ) throws(SessionFault) {
        guard payload.count == 4 else { throw SessionFault(HTTP2Error.frameSizeError, "RST_STREAM of a wrong size") }
        guard let slot = try slot(of: frame) else { return }
        let errorCode = payload.baseAddress!.bigEndian(at: 0)
        // A peer that has begun to answer has processed the request, whatever it says later.
        let isRefusal = errorCode == HTTP2Error.refusedStream && slot.pointee.answer.status == 0
        connection.conclude(
            slot, isRefusal ? .notProcessed(.refusedStream) : .unknown(.reset(errorCode: errorCode)))
    }
}
