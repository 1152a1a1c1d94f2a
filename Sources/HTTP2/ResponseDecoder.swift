import CNghttp2
import Glibc

/// Decodes header blocks with nghttp2's HPACK decoder, and holds answers to the rules of HTTP (RFC 9113 section 8.1.1, 8.2, 8.3).
final class ResponseDecoder {
    /// More than any answer that is wanted; a peer that sends more may, it is not kept.
    private static let longestFieldList = 16_384

    private let inflater: OpaquePointer
    // Two blocks a field that comes with its own value.
    private let memory = SessionMemory()

    init() {
        var inflater: OpaquePointer?
        precondition(nghttp2_hd_inflate_new2(&inflater, memory.functions) == 0, "no memory for a header table")
        self.inflater = inflater!
    }

    deinit { nghttp2_hd_inflate_del(inflater) }

    /// The peer has acknowledged SETTINGS_HEADER_TABLE_SIZE.
    func setTableBytes(_ bytes: UInt32) { nghttp2_hd_inflate_change_table_size(inflater, Int(bytes)) }

    /// A block of an answer, or of a stream that nobody waits for any more (nil): the table changes all the same.
    ///
    /// - Returns: false where the answer breaks the rules.
    /// - Throws: where the block is not HPACK; then the table is lost, and with it the connection.
    func decode(
        _ block: UnsafeRawBufferPointer, into slot: UnsafeMutablePointer<StreamSlot>?
    ) throws(SessionFault) -> Bool {
        // Most answers are no more than this: a field of the static table, one of its statuses.
        if block.count == 1, let slot, !slot.pointee.answer.isFinal,
            let status = Self.staticStatus(block[0])
        {
            slot.pointee.responseFields.clear()
            slot.pointee.answer.status = status
            slot.pointee.answer.promisedBytes = -1
            return true
        }
        var list = FieldList(slot)
        var input = UnsafeMutablePointer(mutating: block.baseAddress?.assumingMemoryBound(to: UInt8.self))
        var left = block.count
        while true {
            var field = nghttp2_nv()
            var flags: Int32 = 0
            let used = nghttp2_hd_inflate_hd2(inflater, &field, &flags, input, left, 1)
            guard used >= 0 else { throw SessionFault(HTTP2Error.compressionError, "a header block cannot be decoded") }
            input = input.map { $0 + used }
            left -= used
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                list.add(
                    UnsafeRawBufferPointer(start: field.name, count: field.namelen),
                    UnsafeRawBufferPointer(start: field.value, count: field.valuelen),
                    longestList: Self.longestFieldList)
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 { break }
            guard used > 0 || flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 else {
                throw SessionFault(HTTP2Error.compressionError, "a header block ends amid a field")
            }
        }
        nghttp2_hd_inflate_end_headers(inflater)
        return list.isWellFormed
    }

    private static func staticStatus(_ byte: UInt8) -> Int32? {
        switch byte {
        case 0x88: 200
        case 0x89: 204
        case 0x8a: 206
        case 0x8b: 304
        case 0x8c: 400
        case 0x8d: 404
        case 0x8e: 500
        default: nil
        }
    }
}

/// The fields of one block, on their way into the slot.
private struct FieldList {
    private let slot: UnsafeMutablePointer<StreamSlot>?
    private let isTrailer: Bool
    private var hasStatus = false
    private var hasFields = false
    private var isBroken = false

    init(_ slot: UnsafeMutablePointer<StreamSlot>?) {
        self.slot = slot
        isTrailer = slot?.pointee.answer.isFinal ?? false
        guard !isTrailer else { return }
        slot?.pointee.responseFields.clear()
        slot?.pointee.answer.promisedBytes = -1
    }

    /// Each answer has a status, interim ones too; trailers have none.
    var isWellFormed: Bool { !isBroken && hasStatus != isTrailer }

    mutating func add(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, longestList: Int) {
        guard let slot, !isBroken else { return }
        if name.first == UInt8(ascii: ":") {
            guard !isTrailer, !hasStatus, !hasFields, name.equals(":status"),
                let status = Self.status(value)
            else {
                isBroken = true
                return
            }
            hasStatus = true
            slot.pointee.answer.status = status
            return
        }
        hasFields = true
        guard Self.isName(name), Self.isValue(value), !Self.belongsToConnections(name) else {
            isBroken = true
            return
        }
        // Fields of trailers are no fields of the answer (RFC 9110 section 6.5.1).
        guard !isTrailer else { return }
        if name.equals("content-length") {
            guard slot.pointee.answer.promisedBytes < 0, let length = Self.length(value) else {
                isBroken = true
                return
            }
            slot.pointee.answer.promisedBytes = length
        }
        let size = PackedFields.size(name: name.count, value: value.count)
        guard slot.pointee.responseFields.count + size <= longestList else { return }
        PackedFields.pack(name: name, value: value, into: slot.pointee.responseFields.extend(by: size))
    }

    /// Three digits from 100; 101 has no meaning in HTTP/2 (section 8.6).
    private static func status(_ value: UnsafeRawBufferPointer) -> Int32? {
        guard value.count == 3, value.allSatisfy({ (48...57).contains($0) }) else { return nil }
        let status = value.reduce(0) { $0 * 10 + Int32($1) - 48 }
        return status >= 100 && status != 101 ? status : nil
    }

    private static func length(_ value: UnsafeRawBufferPointer) -> Int64? {
        // Eighteen digits do not overflow.
        guard (1...18).contains(value.count), value.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return value.reduce(0) { $0 * 10 + Int64($1) - 48 }
    }

    private static func isName(_ name: UnsafeRawBufferPointer) -> Bool {
        nghttp2_check_header_name(name.baseAddress?.assumingMemoryBound(to: UInt8.self), name.count) != 0
    }

    private static func isValue(_ value: UnsafeRawBufferPointer) -> Bool {
        value.isEmpty
            || nghttp2_check_header_value(value.baseAddress?.assumingMemoryBound(to: UInt8.self), value.count) != 0
    }

    /// Fields that speak of an HTTP/1 connection (section 8.2.2).
    private static func belongsToConnections(_ name: UnsafeRawBufferPointer) -> Bool {
        switch name.count {
        case 7: name.equals("upgrade")
        case 10:
            name.equals("connection")
                || name.equals("keep-alive")
        case 16: name.equals("proxy-connection")
        case 17: name.equals("transfer-encoding")
        default: false
        }
    }
}
