/// Collects bytes, above all JSON without blanks. Removing all keeps the memory, so that one buffer serves many payloads.
public struct ByteBuffer: Sendable {
    public private(set) var bytes: [UInt8] = []

    public init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    public var count: Int { bytes.count }
    public var isEmpty: Bool { bytes.isEmpty }

    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Takes back what was written after `count` bytes.
    public mutating func truncate(to count: Int) {
        bytes.removeLast(max(0, bytes.count - count))
    }

    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.span.withUnsafeBytes(body)
    }

    /// The bytes as a string; what is no UTF-8 is replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    public mutating func append(byte: UInt8) {
        bytes.append(byte)
    }

    public mutating func append(bytes other: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: other)
    }

    /// The text as it is, for what is JSON already.
    public mutating func append(raw text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    public mutating func append(raw text: String) {
        bytes.append(contentsOf: text.utf8)
    }
}
