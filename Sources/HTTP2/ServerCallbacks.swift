import CNghttp2

/// What nghttp2 calls on the server's side.
enum ServerCallbacks {
    // Written once before the first use, then only read; nghttp2 copies it into each session.
    nonisolated(unsafe) static let table: OpaquePointer? = {
        var table: OpaquePointer?
        nghttp2_session_callbacks_new(&table)
        nghttp2_session_callbacks_set_on_begin_headers_callback(table, onBeginHeaders)
        nghttp2_session_callbacks_set_on_header_callback(table, onHeader)
        nghttp2_session_callbacks_set_on_frame_recv_callback(table, onFrameReceived)
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table, onData)
        nghttp2_session_callbacks_set_on_frame_send_callback(table, onFrameSent)
        nghttp2_session_callbacks_set_on_stream_close_callback(table, onStreamClosed)
        nghttp2_session_callbacks_set_error_callback2(table, onError)
        return table
    }()

    private static let onBeginHeaders: nghttp2_on_begin_headers_callback = { _, frame, user in
        guard frame!.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
        let hasPriority = UInt32(frame!.pointee.hd.flags) & NGHTTP2_FLAG_PRIORITY.rawValue != 0
        return connection(user) { $0.begin(frame!.pointee.hd.stream_id, hasPriority: hasPriority) }
    }

    private static let onHeader: nghttp2_on_header_callback = {
        session, frame, name, nameLength, value, valueLength, _, user in
        let streamID = frame!.pointee.hd.stream_id
        return connection(user) { connection in
            guard let request = connection.request(streamID) else { return 0 }
            return request._withUnsafeGuaranteedRef { request in
                request.state.pointee.headerListBytes += nameLength + valueLength + 32
                guard request.state.pointee.headerListBytes <= connection.mostHeaderListBytes else {
                    connection.counters.headerListsTooLong += 1
                    request.reset(errorCode: HTTP2Error.enhanceYourCalm)
                    return Int32(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
                }
                request.add(
                    name: UnsafeRawBufferPointer(start: name, count: nameLength),
                    value: UnsafeRawBufferPointer(start: value, count: valueLength))
                return 0
            }
        }
    }

    private static let onData: nghttp2_on_data_chunk_recv_callback = { session, _, streamID, data, length, user in
        connection(user) { connection in
            guard let request = connection.request(streamID) else { return }
            if !connection.options.withholdsWindowUpdates { nghttp2_session_consume(session, streamID, length) }
            request._withUnsafeGuaranteedRef { request in
                let bytes = UnsafeRawBufferPointer(start: data, count: length)
                if !request.addBody(bytes, limit: connection.options.maximumBodyBytes), request.isOpen {
                    connection.handler.bodyTooLarge(request)
                }
            }
        }
        return 0
    }

    private static let onFrameReceived: nghttp2_on_frame_recv_callback = { _, frame, user in
        let header = frame!.pointee.hd
        let isAcknowledgement = UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue != 0
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            guard UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0 else { return 0 }
            connection(user) { connection in
                connection.request(header.stream_id)?._withUnsafeGuaranteedRef { connection.complete($0) }
            }
        case NGHTTP2_PRIORITY.rawValue: connection(user) { $0.counters.priorityFrames += 1 }
        case NGHTTP2_RST_STREAM.rawValue: connection(user) { $0.counters.resetsReceived += 1 }
        case NGHTTP2_PING.rawValue where !isAcknowledgement:
            connection(user) { connection in
                if !connection.countPing() {
                    connection.terminate(errorCode: HTTP2Error.enhanceYourCalm, text: "too many PINGs")
                }
            }
        case NGHTTP2_SETTINGS.rawValue where isAcknowledgement: connection(user) { $0.settingsAcknowledged() }
        default: break
        }
        return 0
    }

    private static let onFrameSent: nghttp2_on_frame_send_callback = { session, frame, user in
        let header = frame!.pointee.hd
        let kind = UInt32(header.type)
        guard kind == NGHTTP2_HEADERS.rawValue || kind == NGHTTP2_DATA.rawValue,
            UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
        else { return 0 }
        connection(user) { connection in
            guard !connection.earlyAnswers.isEmpty, connection.earlyAnswers.remove(header.stream_id) != nil else {
                return
            }
            nghttp2_submit_rst_stream(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), header.stream_id, HTTP2Error.noError)
        }
        return 0
    }

    private static let onStreamClosed: nghttp2_on_stream_close_callback = { _, streamID, errorCode, user in
        connection(user) { $0.streamClosed(streamID, errorCode: errorCode) }
        return 0
    }

    private static let onError: nghttp2_error_callback2 = { _, _, message, length, user in
        let bytes = UnsafeRawBufferPointer(start: message, count: length)
        connection(user) { $0.errorText = String(decoding: bytes, as: UTF8.self) }
        return 0
    }

    @inline(__always)
    private static func connection<Result>(
        _ user: UnsafeMutableRawPointer?, _ body: (ServerConnection) -> Result
    ) -> Result {
        Unmanaged<ServerConnection>.fromOpaque(user!)._withUnsafeGuaranteedRef(body)
    }
}

extension ServerConnection {
    /// Nil for a stream that was refused. Kept here until the stream is closed.
    fileprivate func request(_ streamID: Int32) -> OpenRequests.Reference? {
        // A request's frames mostly come one after the other.
        if let newest = newestRequest, newest._withUnsafeGuaranteedRef({ $0.streamID == streamID }) { return newest }
        return nghttp2_session_get_stream_user_data(session, streamID).map { Unmanaged.fromOpaque($0) }
    }

    /// A new stream: within the limit it becomes a request.
    fileprivate func begin(_ streamID: Int32, hasPriority: Bool) -> Int32 {
        if hasPriority { counters.priorityFrames += 1 }
        guard streamID <= lastServedStreamID else { return refuse(streamID) }
        // A limit that is on its way may already be in force at the peer, if it is higher.
        let limit = max(acknowledgedStreamLimit, limitsInFlight.max() ?? 0)
        guard openStreams < Int(limit) else {
            counters.streamsOverLimit += 1
            switch options.refusal {
            case .refuseStream: break
            case .goAway: terminate(errorCode: HTTP2Error.protocolError, text: "more streams than allowed")
            }
            return refuse(streamID)
        }
        let request = requests.open(streamID: streamID, on: self)
        newestRequest = request
        highestStreamID = streamID
        counters.peakStreams = max(counters.peakStreams, openStreams)
        nghttp2_session_set_stream_user_data(session, streamID, request.toOpaque())
        return 0
    }

    private func refuse(_ streamID: Int32) -> Int32 {
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), streamID, HTTP2Error.refusedStream)
        return Int32(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }

    fileprivate func complete(_ request: ServerRequest) {
        request.state.pointee.isComplete = true
        guard request.isOpen, !request.state.pointee.isBodyTooLarge else { return }
        counters.requests += 1
        handler.received(request)
    }

    fileprivate func streamClosed(_ streamID: Int32, errorCode: UInt32) {
        guard let request = request(streamID) else { return }
        newestRequest = nil
        if !earlyAnswers.isEmpty { earlyAnswers.remove(streamID) }
        requests.close(request) { handler.streamClosed($0, errorCode: errorCode) }
    }

    fileprivate func settingsAcknowledged() {
        guard !limitsInFlight.isEmpty else { return }
        let limit = limitsInFlight.removeFirst()
        acknowledgedStreamLimit = limit
        handler.streamLimitAcknowledged(self, limit: limit)
    }

    /// The answer goes out before the request has come in whole: after its last frame the peer is told to stop.
    func resetAfterAnswer(_ request: ServerRequest) { earlyAnswers.insert(request.streamID) }

    /// Puts the limit that is meant into a SETTINGS frame that is about to leave.
    func reviseSettings(_ frame: UnsafeMutablePointer<UInt8>, _ count: Int) {
        // Frame header: 24 bits of length, type, flags, stream; then six bytes a setting (RFC 9113 sections 4.1 and 6.5).
        guard !limitsToFrame.isEmpty, count >= 9, UInt32(frame[3]) == NGHTTP2_SETTINGS.rawValue,
            UInt32(frame[4]) & NGHTTP2_FLAG_ACK.rawValue == 0
        else { return }
        for start in stride(from: 9, to: count - 5, by: 6)
        where UInt32(frame[start]) << 8 | UInt32(frame[start + 1]) == NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue {
            let limit = limitsToFrame.removeFirst()
            withUnsafeBytes(of: limit.bigEndian) { bytes in
                for (index, byte) in bytes.enumerated() { frame[start + 2 + index] = byte }
            }
            limitsInFlight.append(limit)
            watchSettings()
            return
        }
    }
}
