import Telemetry

/// Why bytes that a store gave back are no checkpoint that this program can use.
public struct CheckpointFault: Error, Equatable, Sendable, CustomStringConvertible {
    public let explanation: String
    public var description: String { explanation }
}

/// Writes checkpoints one after the other into one stretch of bytes. Numbers are little-endian.
struct CheckpointWriter {
    private(set) var bytes: [UInt8] = []

    var count: Int { bytes.count }

    mutating func append(byte: UInt8) { bytes.append(byte) }
    mutating func append(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ number: Double) { append(number.bitPattern) }

    mutating func append(_ number: Int48) {
        append(number.parts.0)
        append(number.parts.1)
        append(number.parts.2)
    }

    /// Bytes without a length.
    mutating func append(raw other: UnsafeRawBufferPointer) { bytes.append(contentsOf: other) }

    mutating func append(sized other: UnsafeRawBufferPointer) {
        append(count: other.count)
        bytes.append(contentsOf: other)
    }

    /// Seven bits a byte, the lowest first.
    mutating func append(count: Int) {
        var rest = UInt(count)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(sized: UnsafeRawBufferPointer($0)) }
    }

    mutating func append(_ object: PackedObject) { object.withUnsafeBytes { append(sized: $0) } }

    /// One byte that says whether it exists, then what `write` gives.
    mutating func append<Value>(_ value: Value?, _ write: (inout CheckpointWriter, Value) -> Void) {
        append(value != nil)
        if let value { write(&self, value) }
    }

    /// A sum over all from `start` on, so that what was cut or mixed up on its way is noticed.
    mutating func seal(from start: Int) {
        let sum = bytes.withUnsafeBytes { KeyedHash.stored.hash(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        append(UInt32(truncatingIfNeeded: sum))
    }
}

struct CheckpointReader {
    private let bytes: UnsafeRawBufferPointer
    private var place = 0

    /// - Throws: where the sum at the end is another one.
    init(sealed bytes: UnsafeRawBufferPointer) throws(CheckpointFault) {
        guard bytes.count >= 4 else { throw CheckpointFault(explanation: "\(bytes.count) bytes are no checkpoint") }
        let content = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - 4)])
        let sum = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: content.count, as: UInt32.self))
        guard sum == UInt32(truncatingIfNeeded: KeyedHash.stored.hash(content)) else {
            throw CheckpointFault(explanation: "its \(bytes.count) bytes are damaged: their sum is not what it was")
        }
        self.bytes = content
    }

    func fault(_ what: String) -> CheckpointFault {
        CheckpointFault(explanation: "\(what) at byte \(place) of \(bytes.count)")
    }

    mutating func byte() throws(CheckpointFault) -> UInt8 { try number() }
    mutating func flag() throws(CheckpointFault) -> Bool { try byte() != 0 }

    mutating func number<Number: FixedWidthInteger>() throws(CheckpointFault) -> Number {
        let size = MemoryLayout<Number>.size
        guard bytes.count - place >= size else { throw fault("it ends in a number") }
        defer { place += size }
        return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Number.self))
    }

    mutating func double() throws(CheckpointFault) -> Double { Double(bitPattern: try number()) }

    mutating func int48() throws(CheckpointFault) -> Int48 {
        Int48(parts: (try number(), try number(), try number()))
    }

    mutating func count() throws(CheckpointFault) -> Int {
        var value: UInt = 0
        var shift: UInt = 0
        while true {
            let next = try byte()
            value |= UInt(next & 0x7F) << shift
            if next < 0x80 { break }
            shift += 7
            guard shift < 35 else { throw fault("a length that is none") }
        }
        return Int(value)
    }

    mutating func sized() throws(CheckpointFault) -> UnsafeRawBufferPointer {
        let count = try count()
        guard bytes.count - place >= count else { throw fault("it ends in a text of \(count) bytes") }
        defer { place += count }
        return UnsafeRawBufferPointer(rebasing: bytes[place..<(place + count)])
    }

    mutating func text() throws(CheckpointFault) -> String { String(decoding: try sized(), as: UTF8.self) }

    mutating func packed() throws(CheckpointFault) -> PackedObject {
        let bytes = try sized()
        guard let object = PackedObject(saved: bytes) else { throw fault("an object that is none") }
        return object
    }

    mutating func optional<Value>(
        _ read: (inout CheckpointReader) throws(CheckpointFault) -> Value
    ) throws(CheckpointFault) -> Value? {
        try flag() ? try read(&self) : nil
    }

    mutating func list<Value>(
        _ read: (inout CheckpointReader) throws(CheckpointFault) -> Value
    ) throws(CheckpointFault) -> [Value] {
        var values: [Value] = []
        for _ in 0..<(try count()) { values.append(try read(&self)) }
        return values
    }

    func finish() throws(CheckpointFault) {
        guard place == bytes.count else { throw fault("\(bytes.count - place) bytes too many") }
    }
}
