import CNghttp2
import Glibc

/// Whether HPACK may put a field into the connection's table (RFC 7541 section 6.2).
public enum Indexing: UInt8, Sendable {
    case indexed
    /// For values that change with each request: they would push the useful ones out of a table of 4096 bytes.
    case neverIndexed
}

/// Header fields in one piece of memory, refilled without allocation once it has grown.
public struct FieldBuffer: ~Copyable {
    struct Entry {
        let name: StaticString
        let offset: Int
        let length: Int
        let flags: UInt8
    }

    private(set) var bytes: UnsafeMutableRawPointer
    private(set) var byteCount = 0
    private var capacity: Int
    private(set) var entries: [Entry] = []

    public init(capacityBytes: Int = 1_024) {
        capacity = max(64, capacityBytes)
        bytes = .allocate(byteCount: capacity, alignment: 1)
        entries.reserveCapacity(16)
    }

    deinit { bytes.deallocate() }

    public mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        byteCount = 0
    }

    /// - Parameter name: in lower case, as HTTP/2 demands.
    public mutating func add(_ name: StaticString, _ value: UnsafeRawBufferPointer, indexing: Indexing = .indexed) {
        entries.append(
            Entry(name: name, offset: append(value), length: value.count, flags: indexing.flags))
    }

    public mutating func add(_ name: StaticString, _ value: String, indexing: Indexing = .indexed) {
        var value = value
        value.withUTF8 { add(name, UnsafeRawBufferPointer($0), indexing: indexing) }
    }

    public mutating func add(_ name: StaticString, decimal: Int64, indexing: Indexing = .indexed) {
        Decimal.withDigits(of: decimal) { add(name, $0, indexing: indexing) }
    }

    /// Returns where it went.
    mutating func append(_ value: UnsafeRawBufferPointer) -> Int {
        let offset = byteCount
        if offset + value.count > capacity {
            capacity = max(2 * capacity, offset + value.count)
            let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 1)
            larger.copyMemory(from: bytes, byteCount: byteCount)
            bytes.deallocate()
            bytes = larger
        }
        if let source = value.baseAddress { (bytes + offset).copyMemory(from: source, byteCount: value.count) }
        byteCount += value.count
        return offset
    }
}

extension Indexing {
    var flags: UInt8 {
        switch self {
        case .indexed: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)
        case .neverIndexed: UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
        }
    }
}

extension StaticString {
    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount) }
}

extension UnsafeRawBufferPointer {
    func equals(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && memcmp(baseAddress!, text.utf8Start, count) == 0
    }
}
