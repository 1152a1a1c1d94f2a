/// The bytes of an id, kept: up to 24 in place, a longer one (at most 128) in memory of its own.
///
/// It owns that memory by hand, since it lies in flat tables: whoever keeps it calls `free` once.
struct StoredIdentifier {
    static let inPlaceBytes = 24

    /// Zero after the id; of a longer one the first is the address of its bytes.
    private var words: (UInt64, UInt64, UInt64) = (0, 0, 0)
    /// 0 for none.
    private var length: UInt8 = 0

    static let none = StoredIdentifier()

    private init() {}

    init(_ bytes: UnsafeRawBufferPointer) {
        precondition(1...255 ~= bytes.count, "an id has 1 to 128 bytes, this one has \(bytes.count)")
        length = UInt8(bytes.count)
        if bytes.count <= StoredIdentifier.inPlaceBytes {
            withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: bytes) }
        } else {
            let apart = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            apart.copyMemory(from: bytes)
            words.0 = UInt64(UInt(bitPattern: apart.baseAddress))
        }
    }

    var exists: Bool { length > 0 }
    /// Of its own memory.
    var byteCountApart: Int { Int(length) > StoredIdentifier.inPlaceBytes ? Int(length) : 0 }

    mutating func free() {
        if byteCountApart > 0 { UnsafeMutableRawPointer(bitPattern: UInt(words.0))?.deallocate() }
        self = .none
    }

    /// - Parameter body: gets the bytes of the id where they lie.
    static func withBytes<Result>(
        of identifier: UnsafePointer<StoredIdentifier>, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        body(UnsafeRawBufferPointer(start: start(of: identifier), count: Int(identifier.pointee.length)))
    }

    static func hasBytes(_ identifier: UnsafePointer<StoredIdentifier>, _ bytes: UnsafeRawBufferPointer) -> Bool {
        let count = bytes.count
        guard Int(identifier.pointee.length) == count, let other = bytes.baseAddress else { return false }
        let own = start(of: identifier)
        guard count >= 8 else {
            for place in 0..<count where own.load(fromByteOffset: place, as: UInt8.self) != bytes[place] {
                return false
            }
            return true
        }
        // Eight at a time; the last eight may overlap those before.
        var place = 0
        while place < count - 8 {
            if !hasSameWord(own, other, place) { return false }
            place += 8
        }
        return hasSameWord(own, other, count - 8)
    }

    private static func hasSameWord(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ place: Int) -> Bool {
        left.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            == right.loadUnaligned(fromByteOffset: place, as: UInt64.self)
    }

    private static func start(of identifier: UnsafePointer<StoredIdentifier>) -> UnsafeRawPointer {
        guard identifier.pointee.byteCountApart > 0,
            let apart = UnsafeRawPointer(bitPattern: UInt(identifier.pointee.words.0))
        else {
            // `words` is the first member.
            return UnsafeRawPointer(identifier)
        }
        return apart
    }
}
