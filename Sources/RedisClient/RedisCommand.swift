/// A command as the bytes that go to Redis: an array of bulk strings (RESP2).
///
/// Keep one and refill it: no allocation once it has grown. `RedisClient.send` copies it.
///
///     var command = RedisCommand("SET")
///     command.append("rides:{3}:state")
///     command.append(identifierBytes)
public struct RedisCommand: ~Copyable {
    private var arguments = Region()
    private(set) var argumentCount = 0

    public init(_ name: String, _ words: String...) {
        append(name)
        for word in words { append(word) }
    }

    deinit {
        var arguments = arguments
        arguments.free()
    }

    /// Forgets all arguments and begins another command.
    public mutating func reset(_ name: String) {
        arguments.clear()
        argumentCount = 0
        append(name)
    }

    public mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    public mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { append($0) } }

    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        append(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    /// An argument of `count` bytes, all of which `write` fills.
    public mutating func append(count: Int, _ write: (UnsafeMutableRawBufferPointer) -> Void) {
        appendHeader(UInt8(ascii: "$"), count, &arguments)
        write(UnsafeMutableRawBufferPointer(start: arguments.extend(by: count), count: count))
        appendLineEnd()
        argumentCount += 1
    }

    /// In decimal digits.
    public mutating func append(_ number: Int64) {
        Decimal.withDigits(of: number) { append($0) }
    }

    /// As `ms-seq`.
    public mutating func append(_ identifier: RedisStreamID) {
        identifier.withText { append($0) }
    }

    private mutating func appendLineEnd() {
        let place = arguments.extend(by: 2)
        place.storeBytes(of: UInt8(ascii: "\r"), as: UInt8.self)
        (place + 1).storeBytes(of: UInt8(ascii: "\n"), as: UInt8.self)
    }

    /// The whole command, at the end of `output`.
    func write(to output: inout Region) {
        appendHeader(UInt8(ascii: "*"), argumentCount, &output)
        output.append(arguments.contents)
    }
}

/// A mark, a number and the end of the line.
private func appendHeader(_ mark: UInt8, _ number: Int, _ output: inout Region) {
    Decimal.withDigits(of: Int64(number)) { digits in
        let place = output.extend(by: digits.count + 3)
        place.storeBytes(of: mark, as: UInt8.self)
        (place + 1).copyMemory(from: digits.baseAddress!, byteCount: digits.count)
        (place + digits.count + 1).storeBytes(of: UInt8(ascii: "\r"), as: UInt8.self)
        (place + digits.count + 2).storeBytes(of: UInt8(ascii: "\n"), as: UInt8.self)
    }
}
