import CNghttp2

/// What nghttp2 calls on the client's side: C functions that find their connection and tell it.
enum ClientCallbacks {
    // Written once before the first use, then only read; nghttp2 copies it into each session.
    nonisolated(unsafe) static let table: OpaquePointer? = {
        var table: OpaquePointer?
        nghttp2_session_callbacks_new(&table)
        nghttp2_session_callbacks_set_on_header_callback(table, onHeader)
        nghttp2_session_callbacks_set_on_frame_recv_callback(table, onFrameReceived)
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table, onData)
        nghttp2_session_callbacks_set_before_frame_send_callback(table, beforeFrameSent)
        nghttp2_session_callbacks_set_on_frame_not_send_callback(table, onFrameNotSent)
        nghttp2_session_callbacks_set_on_stream_close_callback(table, onStreamClosed)
        nghttp2_session_callbacks_set_error_callback2(table, onError)
        return table
    }()

    static let readBody: nghttp2_data_source_read_callback = { _, _, buffer, length, flags, source, _ in
        let slot = source!.pointee.ptr.assumingMemoryBound(to: StreamSlot.self)
        let count = min(length, slot.pointee.bodyEnd - slot.pointee.bodyOffset)
        let start = slot.pointee.request.contents.baseAddress! + slot.pointee.bodyOffset
        UnsafeMutableRawPointer(buffer!).copyMemory(from: start, byteCount: count)
        slot.pointee.bodyOffset += count
        if slot.pointee.bodyOffset == slot.pointee.bodyEnd { flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return count
    }

    private static func slot(_ session: OpaquePointer?, _ streamID: Int32) -> UnsafeMutablePointer<StreamSlot>? {
        nghttp2_session_get_stream_user_data(session, streamID)?.assumingMemoryBound(to: StreamSlot.self)
    }

    private static let onHeader: nghttp2_on_header_callback = {
        session, frame, name, nameLength, value, valueLength, _, _ in
        guard let slot = slot(session, frame!.pointee.hd.stream_id) else { return 0 }
        let name = UnsafeRawBufferPointer(start: name, count: nameLength)
        let value = UnsafeRawBufferPointer(start: value, count: valueLength)
        if name.first == UInt8(ascii: ":") {
            // nghttp2 has checked that this is :status with three digits. It comes again after an interim answer.
            slot.pointee.status = value.reduce(0) { $0 * 10 + Int32($1) - 48 }
            slot.pointee.responseFields.clear()
            return 0
        }
        let size = PackedFields.size(name: name.count, value: value.count)
        // More than any answer that is wanted; a peer that sends more may, it is not kept.
        guard slot.pointee.responseFields.count + size <= 16_384 else { return 0 }
        PackedFields.pack(name: name, value: value, into: slot.pointee.responseFields.extend(by: size))
        return 0
    }

    private static let onData: nghttp2_on_data_chunk_recv_callback = { session, _, streamID, data, length, user in
        guard let slot = slot(session, streamID), slot.pointee.state == .open else { return 0 }
        let limit = connection(user) { $0.options.maximumResponseBodyBytes }
        let room = limit - slot.pointee.responseBody.count
        if length > room { slot.pointee.isBodyTruncated = true }
        slot.pointee.responseBody.append(UnsafeRawBufferPointer(start: data, count: min(length, max(0, room))))
        return 0
    }

    private static let onFrameReceived: nghttp2_on_frame_recv_callback = { session, frame, user in
        let header = frame!.pointee.hd
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            guard UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0,
                let slot = slot(session, header.stream_id)
            else { return 0 }
            slot.pointee.isAnswered = true
            // Answered before the request was complete (413): what is left of it helps nobody.
            if slot.pointee.bodyOffset < slot.pointee.bodyEnd {
                nghttp2_submit_rst_stream(
                    session, UInt8(NGHTTP2_FLAG_NONE.rawValue), header.stream_id, HTTP2Error.cancel)
            }
        case NGHTTP2_RST_STREAM.rawValue: slot(session, header.stream_id)?.pointee.wasResetByPeer = true
        case NGHTTP2_SETTINGS.rawValue where UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue == 0:
            connection(user) { $0.settingsReceived() }
        case NGHTTP2_PING.rawValue where UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue != 0:
            connection(user) { $0.pingAnswered() }
        case NGHTTP2_GOAWAY.rawValue:
            let goAway = frame!.pointee.goaway
            let text = UnsafeRawBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len)
            connection(user) {
                $0.goAwayReceived(lastStreamID: goAway.last_stream_id, errorCode: goAway.error_code, debugData: text)
            }
        default: break
        }
        return 0
    }

    private static let beforeFrameSent: nghttp2_before_frame_send_callback = { session, frame, user in
        guard UInt32(frame!.pointee.hd.type) == NGHTTP2_HEADERS.rawValue,
            let slot = slot(session, frame!.pointee.hd.stream_id)
        else { return 0 }
        slot.pointee.isSerialised = true
        slot.pointee.outputOffset = connection(user) { $0.transport?.producedBytes ?? 0 }
        return 0
    }

    private static let onFrameNotSent: nghttp2_on_frame_not_send_callback = { session, frame, _, user in
        guard UInt32(frame!.pointee.hd.type) == NGHTTP2_HEADERS.rawValue else { return 0 }
        let streamID = frame!.pointee.hd.stream_id
        // Where nghttp2 had made a stream already, its end follows and frees the slot.
        guard nghttp2_session_find_stream(session, streamID) == nil else { return 0 }
        connection(user) { $0.neverOpened(streamID) }
        return 0
    }

    private static let onStreamClosed: nghttp2_on_stream_close_callback = { session, streamID, errorCode, user in
        guard let slot = slot(session, streamID) else { return 0 }
        connection(user) { $0.release(slot, errorCode: errorCode) }
        return 0
    }

    private static let onError: nghttp2_error_callback2 = { _, _, message, length, user in
        let bytes = UnsafeRawBufferPointer(start: message, count: length)
        connection(user) { $0.errorText = String(decoding: bytes, as: UTF8.self) }
        return 0
    }

    @inline(__always)
    private static func connection<Result>(
        _ user: UnsafeMutableRawPointer?, _ body: (ClientConnection) -> Result
    ) -> Result {
        Unmanaged<ClientConnection>.fromOpaque(user!)._withUnsafeGuaranteedRef(body)
    }
}

extension ClientConnection {
    fileprivate func settingsReceived() {
        let before = streamLimit
        peerStreamLimit = nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        if phase == .settings {
            phase = .open
            connectTimer.cancel()
            startHealthChecks()
            handler?.ready(self)
        } else if streamLimit != before {
            giveBackUnsent()
            handler?.streamCapacityChanged(self)
        }
    }

    fileprivate func goAwayReceived(lastStreamID: Int32, errorCode: UInt32, debugData: UnsafeRawBufferPointer) {
        isDraining = true
        goAwayLastStreamID = min(goAwayLastStreamID, lastStreamID)
        handler?.goAway(self, lastStreamID: lastStreamID, errorCode: errorCode, debugData: debugData)
    }

    fileprivate func neverOpened(_ streamID: Int32) {
        slots.visitAll { slot in
            if slot.pointee.state != .free, slot.pointee.streamID == streamID {
                release(slot, errorCode: HTTP2Error.noError)
            }
        }
    }
}
