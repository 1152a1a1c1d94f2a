import CNghttp2

/// HPACK as a client writes it (RFC 7541 section 6). Strings go as they are: Huffman coding would save a quarter of their bytes and cost more
/// than encrypting those; `HPACK.huffmanLiteral` is for what is coded once and sent often.
extension Region {
    /// An integer whose first byte shares its place with a pattern (section 5.1).
    mutating func append(integer: Int, prefixBits: Int, pattern: UInt8) {
        let limit = 1 << prefixBits - 1
        guard integer >= limit else { return append(pattern | UInt8(integer)) }
        append(pattern | UInt8(limit))
        var rest = integer - limit
        while rest >= 128 {
            append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    mutating func append(string: UnsafeRawBufferPointer) {
        append(integer: string.count, prefixBits: 7, pattern: 0)
        append(string)
    }

    /// The beginning of a field that no table keeps, here or at any hop (section 6.2.3); its value follows.
    mutating func append(neverIndexed name: UnsafeRawBufferPointer) {
        append(HPACK.neverIndexed)
        append(string: name)
    }

    /// A field that the peer's table keeps from here on (section 6.2.1).
    mutating func append(inserting name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        append(HPACK.withIndexing)
        append(string: name)
        append(string: value)
    }
}

enum HPACK {
    static let neverIndexed: UInt8 = 0x10
    static let withIndexing: UInt8 = 0x40
    static let withoutIndexing: UInt8 = 0x00
    /// A never-indexed literal whose name is `:path` of the static table.
    static let neverIndexedPath: UInt8 = 0x14
    /// A whole field out of either table (section 6.1), with the index in seven bits.
    static let indexed: UInt8 = 0x80
    /// The new size of the table in five bits (section 6.3).
    static let tableSize: UInt8 = 0x20
    /// Of the static table (appendix A); the dynamic one counts on from here.
    static let staticEntries = 61

    /// Fields of the static table that a request may have whole.
    static func staticIndex(name: String, value: String) -> Int? {
        switch (name, value) {
        case (":method", "GET"): 2
        case (":method", "POST"): 3
        case (":scheme", "http"): 6
        case (":scheme", "https"): 7
        default: nil
        }
    }

    /// A field as a never-indexed literal, its strings Huffman-coded and its name taken from the static table where that is shorter.
    static func huffmanLiteral(name: [UInt8], value: [UInt8]) -> [UInt8] {
        var deflater: OpaquePointer?
        nghttp2_hd_deflate_new(&deflater, 4_096)
        defer { nghttp2_hd_deflate_del(deflater) }
        return name.withUnsafeBytes { name in
            value.withUnsafeBytes { value in
                // nghttp2 declares the pointers mutable and never writes through them.
                var field = nghttp2_nv(
                    name: UnsafeMutablePointer(mutating: name.baseAddress?.assumingMemoryBound(to: UInt8.self)),
                    value: UnsafeMutablePointer(mutating: value.baseAddress?.assumingMemoryBound(to: UInt8.self)),
                    namelen: name.count, valuelen: value.count, flags: Indexing.neverIndexed.flags)
                let bound = nghttp2_hd_deflate_bound(deflater, &field, 1)
                return [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
                    let written = nghttp2_hd_deflate_hd(deflater, buffer.baseAddress, bound, &field, 1)
                    precondition(written > 0, "nghttp2 cannot encode a field: \(written)")
                    count = written
                }
            }
        }
    }
}
