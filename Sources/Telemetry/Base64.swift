/// RFC 4648, section 4.
public enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    public static func append(_ bytes: UnsafeRawBufferPointer, to buffer: inout ByteBuffer) {
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = (0..<3).map { start + $0 < bytes.count ? UInt32(bytes[start + $0]) : 0 }
            let word = group[0] << 16 | group[1] << 8 | group[2]
            for place in 0..<4 {
                let isPadding = place > bytes.count - start
                buffer.append(byte: isPadding ? UInt8(ascii: "=") : alphabet[Int(word >> UInt32(18 - 6 * place) & 63)])
            }
        }
    }

    /// Nil for what is none, or lacks its padding.
    public static func decode(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 4 == 0 else { return nil }
        let padding = digits.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3)
        for start in stride(from: 0, to: digits.count, by: 4) {
            var word: UInt32 = 0
            for place in start..<(start + 4) {
                let isPadding = place >= digits.count - padding
                guard let value = isPadding ? 0 : value(of: digits[place]) else { return nil }
                word = word << 6 | value
            }
            bytes += [UInt8(word >> 16 & 255), UInt8(word >> 8 & 255), UInt8(word & 255)]
        }
        bytes.removeLast(padding)
        return bytes
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case 0x41...0x5A: UInt32(digit - 0x41)
        case 0x61...0x7A: UInt32(digit - 0x61 + 26)
        case 0x30...0x39: UInt32(digit - 0x30 + 52)
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
