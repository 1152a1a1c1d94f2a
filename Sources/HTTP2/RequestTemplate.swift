import CNghttp2

/// A field of a `RequestTemplate`.
public struct TemplateField: Sendable {
    let name: String
    let value: String
    let indexing: Indexing

    public init(_ name: String, _ value: String, indexing: Indexing = .indexed) {
        self.name = name
        self.value = value
        self.indexing = indexing
    }
}

/// The part of a request that does not change: made once per credential and target, shared by the connections of one loop.
///
/// Its memory is lent to nghttp2 instead of being copied per request; a request in flight keeps its template alive.
public final class RequestTemplate {
    /// `:method`, `:scheme`, `:authority`, an empty place for `:path`, then the fields.
    let fields: UnsafeMutableBufferPointer<nghttp2_nv>
    static let pathIndex = 3

    private let bytes: UnsafeMutableBufferPointer<UInt8>

    public init(method: String = "POST", scheme: String = "https", authority: String, fields: [TemplateField]) {
        let all =
            [
                TemplateField(":method", method), TemplateField(":scheme", scheme),
                TemplateField(":authority", authority), TemplateField(":path", "", indexing: .neverIndexed),
            ] + fields
        bytes = .allocate(capacity: all.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count })
        self.fields = .allocate(capacity: all.count)
        var end = 0
        for (index, field) in all.enumerated() {
            let name = Self.place(field.name, in: bytes, at: &end)
            let value = Self.place(field.value, in: bytes, at: &end)
            self.fields.initializeElement(
                at: index, to: .lent(name: name, value: value, flags: field.indexing.flags))
        }
    }

    deinit {
        bytes.deallocate()
        fields.deallocate()
    }

    func name(at index: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: fields[index].name, count: fields[index].namelen)
    }

    private static func place(
        _ text: String, in bytes: UnsafeMutableBufferPointer<UInt8>, at end: inout Int
    ) -> UnsafeRawBufferPointer {
        let start = end
        for byte in text.utf8 {
            bytes[end] = byte
            end += 1
        }
        return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[start..<end])
    }
}

extension nghttp2_nv {
    /// A field whose memory outlives its frame, so that nghttp2 need not copy it.
    static func lent(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, flags: UInt8) -> nghttp2_nv {
        let lent = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
        // nghttp2 declares the pointers mutable and never writes through them.
        return nghttp2_nv(
            name: UnsafeMutablePointer(mutating: name.baseAddress?.assumingMemoryBound(to: UInt8.self)),
            value: UnsafeMutablePointer(mutating: value.baseAddress?.assumingMemoryBound(to: UInt8.self)),
            namelen: name.count, valuelen: value.count, flags: flags | lent)
    }
}
