/// The keys that the scanner knows, as small numbers.
enum ScannedKey {
    /// Escapes, text beyond ASCII, a field that only the general way reads, too many unknown keys or one that may have
    /// come before.
    static let unusual: UInt8 = 0
    static let type: UInt8 = 1
    static let activityId: UInt8 = 2
    static let subjectId: UInt8 = 3
    static let timestamp: UInt8 = 4
    static let eventId: UInt8 = 5
    static let app: UInt8 = 6
    static let latitude: UInt8 = 7
    static let longitude: UInt8 = 8
    static let accuracy: UInt8 = 9
    static let speed: UInt8 = 10
    static let heading: UInt8 = 11
    static let altitude: UInt8 = 12
    static let contentState: UInt8 = 13
    static let status: UInt8 = 14
    static let unknown: UInt8 = 15

    static let names = [
        "", "type", "activityId", "subjectId", "timestamp", "eventId", "app", "latitude", "longitude", "accuracy",
        "speed", "heading", "altitude",
        "contentState", "status",
    ]
}

/// Key patterns and powers of ten at a fixed address: reading them costs neither a bounds check nor a reference count.
final class ScannerTables {
    /// 10^0…10^19 as doubles and as whole numbers.
    struct Powers {
        let doubles: UnsafePointer<Double>
        let integers: UnsafePointer<UInt64>
    }

    /// A key with the quote that ends it, as two words and the bits of them that count.
    private struct Pattern {
        var first: UInt64 = 0
        var firstMask: UInt64 = 0
        var second: UInt64 = 0
        var secondMask: UInt64 = 0
        var count = 0
    }

    /// Unknown keys that one message may have before it is unusual.
    private static let maximumUnknownKeys = 16

    let powers: Powers
    private let doubles: UnsafeMutablePointer<Double>
    private let integers: UnsafeMutablePointer<UInt64>
    private let patterns: UnsafeMutablePointer<Pattern>
    /// Their number, then their fingerprints.
    private let unknownKeys: UnsafeMutablePointer<UInt64>

    init() {
        doubles = .allocate(capacity: 20)
        integers = .allocate(capacity: 20)
        var power: UInt64 = 1
        for exponent in 0..<20 {
            // Each power up to 10^22 is exact as a double.
            (doubles + exponent).initialize(to: Double(power))
            (integers + exponent).initialize(to: power)
            if exponent < 19 { power *= 10 }
        }
        powers = Powers(doubles: doubles, integers: integers)
        patterns = .allocate(capacity: 16)
        patterns.initialize(repeating: Pattern(), count: 16)
        for key in 1..<ScannedKey.names.count { patterns[key] = ScannerTables.pattern(ScannedKey.names[key]) }
        unknownKeys = .allocate(capacity: 1 + ScannerTables.maximumUnknownKeys)
        unknownKeys.initialize(repeating: 0, count: 1 + ScannerTables.maximumUnknownKeys)
    }

    deinit {
        doubles.deallocate()
        integers.deallocate()
        patterns.deallocate()
        unknownKeys.deallocate()
    }

    private static func pattern(_ name: String) -> Pattern {
        var pattern = Pattern()
        pattern.count = name.utf8.count
        for (index, byte) in (Array(name.utf8) + [UInt8(ascii: "\"")]).enumerated() {
            let shift = UInt64(index % 8) * 8
            if index < 8 {
                pattern.first |= UInt64(byte) << shift
                pattern.firstMask |= 0xFF << shift
            } else {
                pattern.second |= UInt64(byte) << shift
                pattern.secondMask |= 0xFF << shift
            }
        }
        return pattern
    }

    /// Takes a key and the quote behind it; the cursor stands on its first byte.
    @inline(__always)
    func takeKey(_ cursor: inout ScanCursor, expected: UInt8) -> UInt8 {
        let first = cursor.word(at: 0)
        let second = cursor.word(at: 8)
        if expected != ScannedKey.unusual && expected != ScannedKey.unknown && matches(expected, first, second) {
            cursor.position += patterns[Int(expected)].count + 1
            return expected
        }
        return takeUnexpectedKey(&cursor, first, second)
    }

    @inline(__always)
    private func matches(_ key: UInt8, _ first: UInt64, _ second: UInt64) -> Bool {
        let pattern = patterns + Int(key)
        return first & pattern.pointee.firstMask == pattern.pointee.first
            && second & pattern.pointee.secondMask == pattern.pointee.second
    }

    @inline(never)
    private func takeUnexpectedKey(_ cursor: inout ScanCursor, _ first: UInt64, _ second: UInt64) -> UInt8 {
        guard let string = cursor.takeRestOfString() else { return ScannedKey.unusual }
        let candidates: (UInt8, UInt8, UInt8) =
            switch string.count {
            case 3: (ScannedKey.app, 0, 0)
            case 4: (ScannedKey.type, 0, 0)
            case 5: (ScannedKey.speed, 0, 0)
            case 6: (ScannedKey.status, 0, 0)
            case 7: (ScannedKey.eventId, ScannedKey.heading, 0)
            case 8: (ScannedKey.latitude, ScannedKey.accuracy, ScannedKey.altitude)
            case 9: (ScannedKey.longitude, ScannedKey.timestamp, ScannedKey.subjectId)
            case 10: (ScannedKey.activityId, 0, 0)
            case 12: (ScannedKey.contentState, 0, 0)
            default: (0, 0, 0)
            }
        if candidates.0 != 0 && matches(candidates.0, first, second) { return candidates.0 }
        if candidates.1 != 0 && matches(candidates.1, first, second) { return candidates.1 }
        if candidates.2 != 0 && matches(candidates.2, first, second) { return candidates.2 }
        let text = UnsafeRawBufferPointer(start: string.start, count: string.count)
        // Fields of a status that the scanner does not read must not pass for unknown ones.
        if text.elementsEqual("alert".utf8) || text.elementsEqual("relevanceScore".utf8) { return ScannedKey.unusual }
        return rememberUnknown(string)
    }

    /// An unknown key whose fingerprint was met already may be the same key twice, which the general way decides.
    private func rememberUnknown(_ string: ScanCursor.Text) -> UInt8 {
        let known = Int(unknownKeys[0])
        guard known < ScannerTables.maximumUnknownKeys else { return ScannedKey.unusual }
        var fingerprint = UInt64(string.count)
        for offset in 0..<string.count {
            fingerprint =
                (fingerprint &* 0x9E37_79B9_7F4A_7C15)
                ^ UInt64(string.start.load(fromByteOffset: offset, as: UInt8.self))
        }
        for index in 0..<known where unknownKeys[1 + index] == fingerprint { return ScannedKey.unusual }
        unknownKeys[1 + known] = fingerprint
        unknownKeys[0] += 1
        return ScannedKey.unknown
    }

    @inline(__always)
    func forgetUnknownKeys() {
        unknownKeys[0] = 0
    }
}
