import CNghttp2

/// One request at a `Server`. It may be kept (strongly) and answered later; its bytes live as long as it does. One that nobody keeps serves
/// again for a later stream.
public final class ServerRequest {
    struct State {
        /// Retained, while there is one.
        var connection: Unmanaged<ServerConnection>?
        var streamID: Int32 = 0
        var label = 0
        var isOpen = false
        var isBodyTooLarge = false
        var isComplete = false
        var hasAnswered = false
        /// After the answer's body the stream stays open.
        var neverEnds = false
        var headerListBytes = 0

        var fields = Region()
        /// Where in `fields` those begin that are no pseudo fields, 32 bits each.
        var fieldOffsets = Region()
        var methodOffset = -1
        var pathOffset = -1
        var body = Region()
        /// Of the answer, until the stream is closed.
        var answer = Region()
        var answerOffset = 0

        /// Neighbours in `OpenRequests`.
        var previous: OpenRequests.Reference?
        var next: OpenRequests.Reference?
    }

    // At a fixed address: the checks of an object's would be paid for at each field of each request.
    let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

    init() { state.initialize(to: State()) }

    deinit {
        state.pointee.connection?.release()
        state.pointee.fields.free()
        state.pointee.fieldOffsets.free()
        state.pointee.body.free()
        state.pointee.answer.free()
        state.deallocate()
    }

    func begin(streamID: Int32, on connection: ServerConnection) {
        state.pointee.connection = Unmanaged.passRetained(connection)
        state.pointee.streamID = streamID
        state.pointee.isOpen = true
    }

    /// As new, except for its memory.
    func recycle() {
        state.pointee.connection?.release()
        var fresh = State()
        swap(&fresh, &state.pointee)
        fresh.fields.clear()
        fresh.fieldOffsets.clear()
        fresh.body.clear()
        fresh.answer.clear(keeping: 1_024)
        state.pointee.fields = fresh.fields
        state.pointee.fieldOffsets = fresh.fieldOffsets
        state.pointee.body = fresh.body
        state.pointee.answer = fresh.answer
    }

    // MARK: Reading

    public var connection: ServerConnection { state.pointee.connection!.takeUnretainedValue() }
    public var streamID: Int32 { state.pointee.streamID }
    /// The handler's own.
    public var label: Int {
        get { state.pointee.label }
        set { state.pointee.label = newValue }
    }
    /// Can still be answered.
    public internal(set) var isOpen: Bool {
        get { state.pointee.isOpen }
        set { state.pointee.isOpen = newValue }
    }

    public var method: UnsafeRawBufferPointer { pseudoField(state.pointee.methodOffset) }
    public var path: UnsafeRawBufferPointer { pseudoField(state.pointee.pathOffset) }
    public var body: UnsafeRawBufferPointer { state.pointee.body.contents }
    /// Without pseudo fields; in order, duplicates kept.
    public var fieldCount: Int { state.pointee.fieldOffsets.count / 4 }
    public func name(at index: Int) -> UnsafeRawBufferPointer { fields.field(at: offset(at: index)).name }
    public func value(at index: Int) -> UnsafeRawBufferPointer { fields.field(at: offset(at: index)).value }
    /// The first field of this (lower-case) name.
    public func field(_ name: StaticString) -> UnsafeRawBufferPointer? { fields.first(name) }

    private var fields: PackedFields { PackedFields(bytes: state.pointee.fields.contents) }

    private func offset(at index: Int) -> Int {
        precondition(index >= 0 && index < fieldCount, "field \(index) of \(fieldCount)")
        return Int(state.pointee.fieldOffsets.contents.load(fromByteOffset: 4 * index, as: UInt32.self))
    }

    private func pseudoField(_ offset: Int) -> UnsafeRawBufferPointer {
        offset < 0 ? UnsafeRawBufferPointer(start: nil, count: 0) : fields.field(at: offset).value
    }

    func add(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let offset = state.pointee.fields.count
        let size = PackedFields.size(name: name.count, value: value.count)
        PackedFields.pack(name: name, value: value, into: state.pointee.fields.extend(by: size))
        if name.first != UInt8(ascii: ":") {
            state.pointee.fieldOffsets.extend(by: 4).storeBytes(of: UInt32(offset), as: UInt32.self)
        } else if name.equals(":path") {
            state.pointee.pathOffset = offset
        } else if name.equals(":method") {
            state.pointee.methodOffset = offset
        }
    }

    /// False when the body has just passed the limit.
    func addBody(_ bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
        if state.pointee.isBodyTooLarge { return true }
        if state.pointee.body.count + bytes.count > limit {
            state.pointee.isBodyTooLarge = true
            return false
        }
        state.pointee.body.append(bytes)
        return true
    }

    // MARK: Answering

    /// Answers, now or later, once. False if the stream is gone or has been answered.
    public func respond(status: Int, fields: borrowing FieldBuffer, body: UnsafeRawBufferPointer) -> Bool {
        send(status: status, body: body, neverEnds: false, fieldCount: fields.entries.count) { index in
            let entry = fields.entries[index]
            let value = UnsafeRawBufferPointer(start: fields.bytes + entry.offset, count: entry.length)
            // The name of a StaticString stays where it is.
            let flags = entry.flags | UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)
            return .copied(name: entry.name.buffer, value: value, flags: flags)
        }
    }

    public func respond(status: Int, fields: [(String, String)] = [], body: [UInt8] = []) -> Bool {
        body.withUnsafeBytes { respond(status: status, fields: fields, body: $0, neverEnds: false) }
    }

    /// Begins an answer that never ends.
    public func respondHeaders(status: Int, fields: [(String, String)] = []) -> Bool {
        respond(status: status, fields: fields, body: UnsafeRawBufferPointer(start: nil, count: 0), neverEnds: true)
    }

    /// RST_STREAM; `HTTP2Error.refusedStream` tells the peer that nothing was done. Also amid an answer.
    @discardableResult
    public func reset(errorCode: UInt32) -> Bool {
        guard isOpen, let session = connection.session else { return false }
        isOpen = false
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), streamID, errorCode)
        connection.wantsToSend()
        return true
    }

    private func respond(
        status: Int, fields: [(String, String)], body: UnsafeRawBufferPointer, neverEnds: Bool
    ) -> Bool {
        // One piece of memory for all names and values, so that pointers into it stay valid while the list is made.
        var bytes: [UInt8] = []
        var ends: [(name: Int, value: Int)] = []
        for (name, value) in fields {
            bytes += name.utf8
            let nameEnd = bytes.count
            bytes += value.utf8
            ends.append((nameEnd, bytes.count))
        }
        return bytes.withUnsafeBytes { bytes in
            send(status: status, body: body, neverEnds: neverEnds, fieldCount: fields.count) { index in
                let start = index == 0 ? 0 : ends[index - 1].value
                return .copied(
                    name: UnsafeRawBufferPointer(rebasing: bytes[start..<ends[index].name]),
                    value: UnsafeRawBufferPointer(rebasing: bytes[ends[index].name..<ends[index].value]), flags: 0)
            }
        }
    }

    private func send(
        status: Int, body: UnsafeRawBufferPointer, neverEnds: Bool, fieldCount: Int, field: (Int) -> nghttp2_nv
    ) -> Bool {
        guard isOpen, !state.pointee.hasAnswered, let session = connection.session else { return false }
        precondition((100...999).contains(status), "status \(status)")
        state.pointee.hasAnswered = true
        state.pointee.neverEnds = neverEnds
        state.pointee.answer.append(body)
        let code = withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: fieldCount + 1) { list in
            withUnsafeTemporaryAllocation(byteCount: 3, alignment: 1) { digits in
                digits[0] = UInt8(48 + status / 100)
                digits[1] = UInt8(48 + status / 10 % 10)
                digits[2] = UInt8(48 + status % 10)
                list[0] = .copied(
                    name: StaticString(":status").buffer, value: UnsafeRawBufferPointer(digits), flags: 0)
                for index in 0..<fieldCount { list[index + 1] = field(index) }
                guard neverEnds || !body.isEmpty else {
                    return nghttp2_submit_response(session, streamID, list.baseAddress, list.count, nil)
                }
                // The connection keeps this request until nghttp2 has closed the stream.
                var provider = nghttp2_data_provider(
                    source: nghttp2_data_source(ptr: Unmanaged.passUnretained(self).toOpaque()),
                    read_callback: Self.readAnswer)
                return nghttp2_submit_response(session, streamID, list.baseAddress, list.count, &provider)
            }
        }
        // An early answer (413): the peer need not send the rest (RFC 9113 section 8.1).
        if !state.pointee.isComplete, !neverEnds { connection.resetAfterAnswer(self) }
        connection.wantsToSend()
        return code == 0
    }

    private static let readAnswer: nghttp2_data_source_read_callback = { _, _, buffer, length, flags, source, _ in
        Unmanaged<ServerRequest>.fromOpaque(source!.pointee.ptr)._withUnsafeGuaranteedRef { request in
            let state = request.state
            let rest = state.pointee.answer.count - state.pointee.answerOffset
            if rest == 0, state.pointee.neverEnds { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
            let count = min(length, rest)
            if count > 0 {
                let start = state.pointee.answer.contents.baseAddress! + state.pointee.answerOffset
                UnsafeMutableRawPointer(buffer!).copyMemory(from: start, byteCount: count)
                state.pointee.answerOffset += count
            }
            if count == rest, !state.pointee.neverEnds { flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
            return count
        }
    }
}

extension nghttp2_nv {
    static func copied(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, flags: UInt8) -> nghttp2_nv {
        // nghttp2 declares the pointers mutable and never writes through them.
        nghttp2_nv(
            name: UnsafeMutablePointer(mutating: name.baseAddress?.assumingMemoryBound(to: UInt8.self)),
            value: UnsafeMutablePointer(mutating: value.baseAddress?.assumingMemoryBound(to: UInt8.self)),
            namelen: name.count, valuelen: value.count, flags: flags)
    }
}
