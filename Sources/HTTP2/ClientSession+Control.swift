/// Frames that speak of the connection: SETTINGS, PING, GOAWAY, WINDOW_UPDATE.
extension ClientSession {
    func receiveSettings(
        _ frame: FrameHeader, _ payload: UnsafeRawBufferPointer, _ connection: ClientConnection
    ) throws(SessionFault) {
        guard frame.streamID == 0 else { throw SessionFault(HTTP2Error.protocolError, "SETTINGS on a stream") }
        if frame.flags.contains(.acknowledgement) {
            guard payload.isEmpty else { throw SessionFault(HTTP2Error.frameSizeError, "SETTINGS ACK of a wrong size") }
            if !isAcknowledged, options.headerTableBytes != 4_096 { decoder.setTableBytes(options.headerTableBytes) }
            isAcknowledged = true
            return
        }
        guard payload.count % 6 == 0 else { throw SessionFault(HTTP2Error.frameSizeError, "SETTINGS of a wrong size") }
        for offset in stride(from: 0, to: payload.count, by: 6) {
            let setting = payload.baseAddress! + offset
            try take(
                setting: UInt16(bigEndian: setting.loadUnaligned(as: UInt16.self)), value: setting.bigEndian(at: 2))
        }
        hasSettings = true
        control.add { $0.append(FrameHeader(length: 0, type: .settings, flags: .acknowledgement, streamID: 0)) }
        connection.settingsReceived()
    }

    private func take(setting: UInt16, value: UInt32) throws(SessionFault) {
        switch setting {
        case Setting.headerTableSize: encoder.peerAllows(value)
        case Setting.maximumStreams: maximumStreams = value
        case Setting.initialWindowSize:
            guard value <= UInt32(Self.largestWindow) else {
                throw SessionFault(HTTP2Error.flowControlError, "an initial window of \(value) bytes")
            }
            try changeInitialSendWindow(to: Int(value))
        case Setting.enablePush where value != 0:
            throw SessionFault(HTTP2Error.protocolError, "a server that enables push")
        case Setting.maximumFrameSize where !(16_384...16_777_215).contains(value):
            throw SessionFault(HTTP2Error.protocolError, "frames of up to \(value) bytes")
        default: break
        }
    }

    /// It holds for the streams that are open, too, so their windows may fall below nothing.
    private func changeInitialSendWindow(to bytes: Int) throws(SessionFault) {
        let change = bytes - initialSendWindow
        initialSendWindow = bytes
        guard change != 0 else { return }
        var isTooLarge = false
        slots.visitAll { slot in
            guard slot.pointee.state == .open else { return }
            if !changeSendWindow(of: slot, by: change) { isTooLarge = true }
        }
        if isTooLarge { throw SessionFault(HTTP2Error.flowControlError, "a stream's window of 2³¹ bytes or more") }
    }

    func receivePing(
        _ frame: FrameHeader, _ payload: UnsafeRawBufferPointer, _ connection: ClientConnection
    ) throws(SessionFault) {
        guard frame.streamID == 0 else { throw SessionFault(HTTP2Error.protocolError, "PING on a stream") }
        guard payload.count == 8 else { throw SessionFault(HTTP2Error.frameSizeError, "PING of a wrong size") }
        if frame.flags.contains(.acknowledgement) {
            connection.pingAnswered()
        } else {
            control.add { $0.appendPing(payload, flags: .acknowledgement) }
        }
    }

    func receiveGoAway(
        _ frame: FrameHeader, _ payload: UnsafeRawBufferPointer, _ connection: ClientConnection
    ) throws(SessionFault) {
        guard frame.streamID == 0 else { throw SessionFault(HTTP2Error.protocolError, "GOAWAY on a stream") }
        guard payload.count >= 8 else { throw SessionFault(HTTP2Error.frameSizeError, "GOAWAY of a wrong size") }
        let lastStreamID = Int32(bitPattern: payload.baseAddress!.bigEndian(at: 0) & 0x7fff_ffff)
        // Requests above the first id have been given back as unprocessed: it cannot be taken back (section 6.8).
        guard lastStreamID <= goAwayLastStreamID else {
            throw SessionFault(HTTP2Error.protocolError, "GOAWAY with a higher id than before")
        }
        goAwayLastStreamID = lastStreamID
        connection.goAwayReceived(
            lastStreamID: lastStreamID, errorCode: payload.baseAddress!.bigEndian(at: 4),
            debugData: UnsafeRawBufferPointer(rebasing: payload[8...]))
    }

    func receiveWindowUpdate(_ frame: FrameHeader, _ payload: UnsafeRawBufferPointer) throws(SessionFault) {
        guard payload.count == 4 else { throw SessionFault(HTTP2Error.frameSizeError, "WINDOW_UPDATE of a wrong size") }
        let increment = Int(payload.baseAddress!.bigEndian(at: 0) & 0x7fff_ffff)
        guard increment > 0 else { throw SessionFault(HTTP2Error.protocolError, "WINDOW_UPDATE of nothing") }
        guard frame.streamID != 0 else {
            sendWindow += increment
            guard sendWindow <= Self.largestWindow else {
                throw SessionFault(HTTP2Error.flowControlError, "a window of 2³¹ bytes or more")
            }
            return
        }
        guard let slot = try slot(of: frame) else { return }
        guard changeSendWindow(of: slot, by: increment) else {
            throw SessionFault(HTTP2Error.flowControlError, "a stream's window of 2³¹ bytes or more")
        }
    }
}
