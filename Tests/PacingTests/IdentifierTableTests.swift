import Testing

@testable import Pacing

/// The table and the activities whose ids it leads to, as a shard has them.
private struct NamedActivities: ~Copyable {
    var table: IdentifierTable
    var slab = ActivitySlab()

    init(seed: UInt64) {
        table = IdentifierTable(seed: seed)
    }

    func find(_ name: String) -> UInt32? {
        withBytes(of: name) { bytes in
            table.find(table.hash(of: bytes)) { index in
                StoredIdentifier.hasBytes(&slab.states[index].pointee.identifier, bytes)
            }
        }
    }

    mutating func add(_ name: String) -> UInt32 {
        let index = slab.allocate(named(name))
        withBytes(of: name) { table.insert(table.hash(of: $0), index: index) }
        return index
    }

    mutating func remove(_ index: UInt32) {
        let hash = StoredIdentifier.withBytes(of: &slab.states[index].pointee.identifier) { table.hash(of: $0) }
        table.remove(hash, index: index)
        slab.release(index)
    }
}

@Suite("The table of ids")
struct IdentifierTableTests {
    @Test("finds what is in it and nothing else, over growth and removal", arguments: [4, 30])
    func random(length: Int) {
        var random = SeededGenerator(seed: 11)
        var activities = NamedActivities(seed: 99)
        var expected: [String: UInt32] = [:]
        for _ in 0..<20_000 {
            let name = String(repeating: "x", count: length) + String(Int.random(in: 0..<3_000, using: &random))
            let found = activities.find(name)
            if found != expected[name] { Issue.record("\(name)") }
            if let found, random.chance(0.4) {
                activities.remove(found)
                expected[name] = nil
            } else if found == nil {
                expected[name] = activities.add(name)
            }
        }
        #expect(activities.table.count == expected.count)
        for (name, index) in expected { #expect(activities.find(name) == index) }
    }

    @Test("ids with the same hash are told apart by their bytes")
    func sameHash() {
        var table = IdentifierTable(seed: 1)
        for index in 0..<40 { table.insert(7, index: UInt32(index)) }
        for index in 0..<40 { #expect(table.find(7) { $0 == index } == UInt32(index)) }
        table.remove(7, index: 20)
        #expect(table.find(7) { $0 == 20 } == nil)
        #expect(table.find(7) { $0 == 39 } == 39)
        #expect(table.find(8) { _ in true } == nil)
    }

    @Test("the seed changes the hash")
    func seeds() {
        let one = IdentifierTable(seed: 1)
        let two = IdentifierTable(seed: 2)
        withBytes(of: "ride-1") { #expect(one.hash(of: $0) != two.hash(of: $0)) }
    }
}

@Suite("A stored id")
struct StoredIdentifierTests {
    @Test("has the bytes that it was made from and no others, whatever its length", arguments: 1...128)
    func lengths(length: Int) {
        let text = String((0..<length).map { Character(Unicode.Scalar(UInt8(33 + $0 % 90))) })
        var stored = named(text)
        #expect(stored.exists)
        #expect(StoredIdentifier.withBytes(of: &stored) { String(decoding: $0, as: UTF8.self) } == text)
        withBytes(of: text) { #expect(StoredIdentifier.hasBytes(&stored, $0)) }
        for place in 0..<length {
            var bytes = Array(text.utf8)
            bytes[place] ^= 1
            bytes.withUnsafeBytes { #expect(!StoredIdentifier.hasBytes(&stored, $0)) }
        }
        withBytes(of: text + "x") { #expect(!StoredIdentifier.hasBytes(&stored, $0)) }
        withBytes(of: String(text.dropLast())) { #expect(!StoredIdentifier.hasBytes(&stored, $0)) }
        stored.free()
        #expect(!stored.exists)
    }
}

func withBytes<Result>(of text: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    var text = text
    return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
}

func named(_ text: String) -> StoredIdentifier { withBytes(of: text) { StoredIdentifier($0) } }

extension ActivitySlab {
    mutating func allocate(_ identifier: StoredIdentifier) -> UInt32 {
        allocate(identifier, StoredRecord(bucket: CadenceBucket(.standard)))
    }
}
