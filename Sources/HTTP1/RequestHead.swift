import CMicrohttpd
import Glibc

/// What stands above a body, and whether it may be trusted to say where the body ends.
///
/// libmicrohttpd is lenient: it takes bare line feeds, joins folded lines wrongly, cuts values at a NUL, lets `Transfer-Encoding` win over
/// `Content-Length` and takes the first of several lengths. A proxy before it that reads any of these otherwise sees the next request begin elsewhere
/// (request smuggling, RFC 9112, section 11.2). So the head is measured: its parts have to lie one behind the other as the grammar has them,
/// with nothing between, and only one field may speak of the body's length.
struct RequestHead {
    let headers: HTTPHeaders
    let announcedBytes: Int?
    let isChunked: Bool
    var hasBody: Bool { isChunked || (announcedBytes ?? 0) > 0 }
    var expectsContinue: Bool { headers["Expect"].map { HTTPField($0, "").isNamed("100-continue") } ?? false }

    /// - Parameters:
    ///   - target: the request line's, as it was before anything was cut off it.
    ///   - method, url, version: as libmicrohttpd hands them out, within one buffer.
    init(
        _ connection: OpaquePointer, target: [UInt8], method: UnsafePointer<CChar>, url: UnsafePointer<CChar>,
        version: UnsafePointer<CChar>
    ) throws(HTTPRefusalFault) {
        guard url == method + strlen(method) + 1, version == url + target.count + 1 else {
            throw HTTPRefusalFault(.malformed("the request line holds a NUL or more than one blank between its parts"))
        }
        let fields = RequestHead.fields(of: connection)
        var expected = version + 8 + 2
        for field in fields {
            let gap = field.value - field.name - field.nameLength
            guard field.name == expected, 1...1024 ~= gap,
                (1..<gap).allSatisfy({ RequestHead.isBlank(field.name[field.nameLength + $0]) })
            else {
                throw HTTPRefusalFault(
                    .malformed("a line of the head is folded, holds a NUL or does not end in CR LF"))
            }
            guard
                (0..<field.nameLength).allSatisfy({ RequestHead.isTokenCharacter(UInt8(bitPattern: field.name[$0])) }),
                field.nameLength > 0
            else { throw HTTPRefusalFault(.malformed("a field's name holds a character that none may have")) }
            expected = field.value + field.valueLength + 2
        }
        guard expected + 2 == method + cmicrohttpd_head_bytes(connection) else {
            throw HTTPRefusalFault(.malformed("a line of the head is folded, holds a NUL or does not end in CR LF"))
        }
        headers = HTTPHeaders(fields.map(\.text))
        guard headers.all("Host").count <= 1 else { throw HTTPRefusalFault(.malformed("Host is given twice")) }

        let lengths = headers.all("Content-Length")
        // With the blanks at its end, for libmicrohttpd takes them for a part of it, and such a body for one that goes on until the client ends.
        let codings = fields.filter { $0.text.isNamed("Transfer-Encoding") }.map(\.writtenValue)
        guard lengths.count + codings.count <= 1 else {
            throw HTTPRefusalFault(.malformed("the body's length is given more than once"))
        }
        if let coding = codings.first {
            guard HTTPField(coding, "").isNamed("chunked") else { throw HTTPRefusalFault(.unknownTransferCoding) }
            guard strcmp(version, "HTTP/1.0") != 0 else {
                throw HTTPRefusalFault(.malformed("HTTP/1.0 has no Transfer-Encoding"))
            }
        }
        isChunked = !codings.isEmpty
        announcedBytes = try lengths.first.map { text throws(HTTPRefusalFault) in
            guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(text) else {
                throw HTTPRefusalFault(.malformed("Content-Length is no number of bytes"))
            }
            return length
        }
    }

    private struct Field {
        let name: UnsafePointer<CChar>
        let nameLength: Int
        let value: UnsafePointer<CChar>
        let valueLength: Int

        var text: HTTPField {
            HTTPField(Field.string(name, nameLength), Field.string(value, valueLength))
        }

        var writtenValue: String {
            String(decoding: UnsafeRawBufferPointer(start: value, count: valueLength), as: UTF8.self)
        }

        /// Without the blanks at its end, which belong to no value.
        private static func string(_ start: UnsafePointer<CChar>, _ length: Int) -> String {
            var length = length
            while length > 0, RequestHead.isBlank(start[length - 1]) { length -= 1 }
            return String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
        }
    }

    private static func fields(of connection: OpaquePointer) -> [Field] {
        var fields: [Field] = []
        withUnsafeMutablePointer(to: &fields) { room in
            cmicrohttpd_each_field(
                connection,
                { room, _, name, nameLength, value, valueLength in
                    guard let room, let name, let value else { return .NO }
                    room.assumingMemoryBound(to: [Field].self).pointee.append(
                        Field(name: name, nameLength: nameLength, value: value, valueLength: valueLength))
                    return .YES
                }, room)
        }
        return fields
    }

    private static func isBlank(_ character: CChar) -> Bool { character == 0x20 || character == 0x09 }

    /// RFC 9110, section 5.6.2.
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

struct HTTPRefusalFault: Error {
    let refusal: HTTPRefusal

    init(_ refusal: HTTPRefusal) { self.refusal = refusal }
}
