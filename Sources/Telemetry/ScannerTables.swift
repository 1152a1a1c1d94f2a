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
    /// A bit for each that may come once.
    static let known: UInt32 = 0x7FFE
    static let numbers = latitude...altitude

    static let names = [
        "", "type", "activityId", "subjectId", "timestamp", "eventId", "app", "latitude", "longitude", "accuracy",
        "speed", "heading", "altitude",
        "contentState", "status",
    ]
}

/// What scanning reads and remembers, at fixed addresses: it costs neither a bounds check nor a reference count.
final class ScannerTables {
    /// 10^0…10^19 as doubles and as whole numbers.
    struct Powers {
        let doubles: UnsafePointer<Double>
        let integers: UnsafePointer<UInt64>
    }

    /// Unknown keys that one message may have before it is unusual.
    private static let maximumUnknownKeys = 16

    let powers: Powers
    private let doubles: UnsafeMutablePointer<Double>
    private let integers: UnsafeMutablePointer<UInt64>
    /// What numbers were found, by their keys.
    let numbers: UnsafeMutablePointer<Double>
    /// The last position, and the last change of status, that were taken.
    let positionPlan: UnsafeMutablePointer<ScanPlan>
    let statusPlan: UnsafeMutablePointer<ScanPlan>
    private let patterns: UnsafeMutablePointer<KeyPattern>
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
        patterns.initialize(repeating: KeyPattern(), count: 16)
        for key in 1..<UInt8(ScannedKey.names.count) { patterns[Int(key)] = KeyPattern(of: key, behind: nil) }
        numbers = .allocate(capacity: 16)
        numbers.initialize(repeating: .nan, count: 16)
        positionPlan = .allocate(capacity: 1)
        positionPlan.initialize(to: ScanPlan(kind: .position))
        statusPlan = .allocate(capacity: 1)
        statusPlan.initialize(to: ScanPlan(kind: .status))
        unknownKeys = .allocate(capacity: 1 + ScannerTables.maximumUnknownKeys)
        unknownKeys.initialize(repeating: 0, count: 1 + ScannerTables.maximumUnknownKeys)
    }

    deinit {
        doubles.deallocate()
        integers.deallocate()
        patterns.deallocate()
        numbers.deallocate()
        positionPlan.pointee.deallocate()
        positionPlan.deallocate()
        statusPlan.pointee.deallocate()
        statusPlan.deallocate()
        unknownKeys.deallocate()
    }

    /// Takes a key and the colon behind it; the cursor stands on what should be its opening quote.
    func takeKey(_ cursor: inout ScanCursor) -> UInt8 {
        for key in 1..<UInt8(ScannedKey.names.count) where patterns[Int(key)].matches(cursor) {
            cursor.position += patterns[Int(key)].count
            return key
        }
        guard let string = cursor.takeString(), cursor.take(UInt8(ascii: ":")) else { return ScannedKey.unusual }
        let text = UnsafeRawBufferPointer(start: string.start, count: string.count)
        for (key, name) in ScannedKey.names.enumerated().dropFirst() where text.elementsEqual(name.utf8) {
            return UInt8(key)
        }
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

    func forgetUnknownKeys() {
        unknownKeys[0] = 0
    }

    @inline(__always)
    func forgetNumbers() {
        for key in ScannedKey.numbers { numbers[Int(key)] = .nan }
    }
}
