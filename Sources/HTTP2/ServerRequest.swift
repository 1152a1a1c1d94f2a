import CNghttp2

/// One request at a `Server`. It may be kept and answered later; its bytes live as long as it does.
public final class ServerRequest {
    public let connection: ServerConnection
    public let streamID: Int32
    /// The handler's own.
    public var label = 0
    /// Can still be answered.
    public internal(set) var isOpen = true

    private var fieldBytes = Region()
    private var fieldOffsets: [Int] = []
    private var methodOffset: Int?
    private var pathOffset: Int?
    private var bodyBytes = Region()
    /// Of the answer, until the stream is closed.
    private var answer = Region()
    private var answerOffset = 0
    private var hasAnswered = false
    /// After the answer's body the stream stays open.
    private var neverEnds = false
    var headerListBytes = 0
    var isBodyTooLarge = false
    var isComplete = false

    init(connection: ServerConnection, streamID: Int32) {
        self.connection = connection
        self.streamID = streamID
    }

    deinit {
        fieldBytes.free()
        bodyBytes.free()
        answer.free()
    }

    // MARK: Reading

    public var method: UnsafeRawBufferPointer { pseudoField(methodOffset) }
    public var path: UnsafeRawBufferPointer { pseudoField(pathOffset) }
    public var body: UnsafeRawBufferPointer { bodyBytes.contents }
    /// Without pseudo fields; in order, duplicates kept.
    public var fieldCount: Int { fieldOffsets.count }
    public func name(at index: Int) -> UnsafeRawBufferPointer { fields.field(at: fieldOffsets[index]).name }
    public func value(at index: Int) -> UnsafeRawBufferPointer { fields.field(at: fieldOffsets[index]).value }
    /// The first field of this (lower-case) name.
    public func field(_ name: StaticString) -> UnsafeRawBufferPointer? { fields.first(name) }

    private var fields: PackedFields { PackedFields(bytes: fieldBytes.contents) }

    private func pseudoField(_ offset: Int?) -> UnsafeRawBufferPointer {
        offset.map { fields.field(at: $0).value } ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    func add(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let offset = fieldBytes.count
        let size = PackedFields.size(name: name.count, value: value.count)
        PackedFields.pack(name: name, value: value, into: fieldBytes.extend(by: size))
        if name.first != UInt8(ascii: ":") {
            fieldOffsets.append(offset)
        } else if name.elementsEqual(StaticString(":path").buffer) {
            pathOffset = offset
        } else if name.elementsEqual(StaticString(":method").buffer) {
            methodOffset = offset
        }
    }

    /// False when the body has just passed the limit.
    func addBody(_ bytes: UnsafeRawBufferPointer, limit: Int) -> Bool {
        if isBodyTooLarge { return true }
        if bodyBytes.count + bytes.count > limit {
            isBodyTooLarge = true
            return false
        }
        bodyBytes.append(bytes)
        return true
    }

    // MARK: Answering

    /// Answers, now or later, once. False if the stream is gone or has been answered.
    public func respond(status: Int, fields: borrowing FieldBuffer, body: UnsafeRawBufferPointer) -> Bool {
        send(status: status, body: body, neverEnds: false, fieldCount: fields.entries.count) { index in
            let entry = fields.entries[index]
            let value = UnsafeRawBufferPointer(start: fields.bytes + entry.offset, count: entry.length)
            return .copied(name: entry.name.buffer, value: value, flags: entry.flags)
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
        guard isOpen, !hasAnswered, let session = connection.session else { return false }
        precondition((100...999).contains(status), "status \(status)")
        hasAnswered = true
        self.neverEnds = neverEnds
        answer.append(body)
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
        if !isComplete, !neverEnds { connection.resetAfterAnswer(self) }
        connection.wantsToSend()
        return code == 0
    }

    private static let readAnswer: nghttp2_data_source_read_callback = { _, _, buffer, length, flags, source, _ in
        Unmanaged<ServerRequest>.fromOpaque(source!.pointee.ptr)._withUnsafeGuaranteedRef { request in
            let rest = request.answer.count - request.answerOffset
            if rest == 0, request.neverEnds { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
            let count = min(length, rest)
            if count > 0 {
                let start = request.answer.contents.baseAddress! + request.answerOffset
                UnsafeMutableRawPointer(buffer!).copyMemory(from: start, byteCount: count)
                request.answerOffset += count
            }
            if count == rest, !request.neverEnds { flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
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
