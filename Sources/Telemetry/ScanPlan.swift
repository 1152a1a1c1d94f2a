/// A key as it stands in a message, with its quotes and the colon behind it: two words, and the bits of them that count.
struct KeyPattern {
    /// Most bytes that a pattern has.
    static let mostBytes = 16

    // Without a key: what no word is.
    private var first: UInt64 = 1
    private var firstMask: UInt64 = 0
    private var second: UInt64 = 0
    private var secondMask: UInt64 = 0
    private(set) var count = 0
    private(set) var key = ScannedKey.unusual

    init() {}

    /// - Parameter lead: the byte before the opening quote, where that is part of it.
    init(of key: UInt8, behind lead: UInt8?) {
        let text = (lead.map { [$0] } ?? []) + Array("\"\(ScannedKey.names[Int(key)])\":".utf8)
        precondition(
            text.count <= KeyPattern.mostBytes, "\(ScannedKey.names[Int(key)]) is too long a key for two words")
        self.key = key
        count = text.count
        first = 0
        for (index, byte) in text.enumerated() {
            let shift = UInt64(index % 8) * 8
            if index < 8 {
                first |= UInt64(byte) << shift
                firstMask |= 0xFF << shift
            } else {
                second |= UInt64(byte) << shift
                secondMask |= 0xFF << shift
            }
        }
    }

    /// Whether it stands here.
    /// - Precondition: `mostBytes` may be read.
    @inline(__always)
    func matches(at position: UnsafeRawPointer) -> Bool {
        let found = UInt64(littleEndian: position.loadUnaligned(as: UInt64.self))
        let foundBehind = UInt64(littleEndian: position.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        return ((found & firstMask) ^ first) | ((foundBehind & secondMask) ^ second) == 0
    }

    /// The same wherever the cursor stands.
    func matches(_ cursor: ScanCursor) -> Bool {
        cursor.word(at: 0) & firstMask == first && cursor.word(at: 8) & secondMask == second
    }
}

/// How the last message of a kind was written: its keys in their order with the separators before them. Most often the next one is written
/// alike, and then each key costs one comparison, and none can come twice.
struct ScanPlan {
    static let mostSteps = 16

    let kind: Event.Kind
    let steps: UnsafeMutablePointer<KeyPattern>
    private(set) var count = 0
    private var shape: UInt64 = 0

    init(kind: Event.Kind) {
        self.kind = kind
        steps = .allocate(capacity: ScanPlan.mostSteps)
        steps.initialize(repeating: KeyPattern(), count: ScanPlan.mostSteps)
    }

    func deallocate() {
        steps.deallocate()
    }

    /// - Parameters:
    ///   - shape: the keys, four bits each, the first in the lowest bits; no known key twice.
    ///   - count: how many they are.
    mutating func remember(shape newShape: UInt64, count newCount: Int) {
        guard newShape != shape, newCount <= ScanPlan.mostSteps else { return }
        (shape, count) = (newShape, 0)
        for step in 0..<newCount {
            let key = UInt8(truncatingIfNeeded: newShape >> UInt64(4 * step)) & 15
            // What is not known has to be asked whether it came before.
            guard key != ScannedKey.unknown else {
                count = 0
                return
            }
            steps[step] = KeyPattern(of: key, behind: step == 0 ? UInt8(ascii: "{") : UInt8(ascii: ","))
        }
        count = newCount
    }
}
