/// Requests and what else is to be sent, frame by frame.
extension ClientSession {
    /// Writes the next frame or two; false when nothing may be sent now.
    func writeNext(to output: OutputBuffer) -> Bool {
        if control.left > 0 {
            control.move(to: output)
            return true
        }
        guard fault == nil else { return false }
        if sendWindow > 0, let slot = sending.first {
            writeBody(slot, to: output)
            return true
        }
        // One whose body would have to wait for the connection's window waits as a whole: so it is known to be unprocessed.
        guard let slot = waiting.first, sendWindow > 0 || slot.pointee.bodyLeft == 0 else { return false }
        writeRequest(slot, to: output)
        return true
    }

    private func writeRequest(_ slot: UnsafeMutablePointer<StreamSlot>, to output: OutputBuffer) {
        waiting.remove(slot)
        streams.insert(slot.pointee.streamID, slot: slot.pointee.index)
        slot.pointee.state = .open
        slot.pointee.sendWindow = initialSendWindow
        slot.pointee.outputOffset = output.producedBytes
        lastFramedStreamID = slot.pointee.streamID

        let update = encoder.takeUpdate()
        let template = encoder.block(slot.pointee.template!)
        encoder.release(slot.pointee.template!)
        let request = slot.pointee.request.bytes!
        let (pathEnd, fieldsEnd) = (slot.pointee.pathEnd, slot.pointee.fieldsEnd)
        let length = update.count + template.count + fieldsEnd
        let flags: FrameFlags = slot.pointee.bodyLeft == 0 ? .endStream : []
        guard length <= FrameHeader.largestPayload else {
            scratch.clear()
            scratch.append(update)
            scratch.append(slot.pointee.request.contents(0..<pathEnd))
            scratch.append(template)
            scratch.append(slot.pointee.request.contents(pathEnd..<fieldsEnd))
            writeLongBlock(slot.pointee.streamID, flags, to: output)
            return writeFirstOfBody(slot, to: output)
        }
        var target = output.reserve(FrameHeader.size + length)
        FrameHeader(length: length, type: .headers, flags: [flags, .endHeaders], streamID: slot.pointee.streamID)
            .write(to: target)
        target += FrameHeader.size
        if let source = update.baseAddress {
            target.copyMemory(from: source, byteCount: update.count)
            target += update.count
        }
        target.copyMemory(from: request, byteCount: pathEnd)
        target += pathEnd
        target.copyMemory(from: template.baseAddress!, byteCount: template.count)
        target += template.count
        target.copyMemory(from: request + pathEnd, byteCount: fieldsEnd - pathEnd)
        output.commit(FrameHeader.size + length)
        writeFirstOfBody(slot, to: output)
    }

    /// `scratch`, as HEADERS and as many CONTINUATION as it takes; nothing may stand between them.
    private func writeLongBlock(_ streamID: Int32, _ flags: FrameFlags, to output: OutputBuffer) {
        var sent = 0
        while sent < scratch.count {
            let count = min(scratch.count - sent, FrameHeader.largestPayload)
            let end: FrameFlags = sent + count == scratch.count ? .endHeaders : []
            let target = output.reserve(FrameHeader.size + count)
            FrameHeader(
                length: count, type: sent == 0 ? .headers : .continuation, flags: sent == 0 ? [flags, end] : end,
                streamID: streamID
            ).write(to: target)
            (target + FrameHeader.size).copyMemory(from: scratch.bytes! + sent, byteCount: count)
            output.commit(FrameHeader.size + count)
            sent += count
        }
    }

    private func writeFirstOfBody(_ slot: UnsafeMutablePointer<StreamSlot>, to output: OutputBuffer) {
        guard slot.pointee.bodyLeft > 0, slot.pointee.sendWindow > 0 else { return }
        sending.append(slot)
        // What does not end here goes on in the order of the queue.
        if sendWindow > 0, output.count < OutputBuffer.recordBytes { writeBody(slot, to: output) }
    }

    private func writeBody(_ slot: UnsafeMutablePointer<StreamSlot>, to output: OutputBuffer) {
        let left = slot.pointee.bodyLeft
        let count = min(
            left, FrameHeader.largestPayload, output.room - FrameHeader.size, sendWindow, slot.pointee.sendWindow)
        let target = output.reserve(FrameHeader.size + count)
        FrameHeader(
            length: count, type: .data, flags: count == left ? .endStream : [], streamID: slot.pointee.streamID
        ).write(to: target)
        (target + FrameHeader.size).copyMemory(
            from: slot.pointee.request.bytes! + slot.pointee.bodyOffset, byteCount: count)
        output.commit(FrameHeader.size + count)
        slot.pointee.bodyOffset += count
        slot.pointee.sendWindow -= count
        sendWindow -= count
        if count == left || slot.pointee.sendWindow <= 0 { sending.remove(slot) }
    }

    /// The window of an open stream changed by so much.
    func changeSendWindow(of slot: UnsafeMutablePointer<StreamSlot>, by increment: Int) -> Bool {
        slot.pointee.sendWindow += increment
        guard slot.pointee.sendWindow <= Self.largestWindow else { return false }
        let maySend = slot.pointee.sendWindow > 0 && slot.pointee.bodyLeft > 0
        if maySend, !slot.pointee.isQueued { sending.append(slot) }
        if !maySend, slot.pointee.isQueued { sending.remove(slot) }
        return true
    }
}
