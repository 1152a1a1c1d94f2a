import Testing

@testable import Telemetry

/// Goal: bytes and trees never say anything else of the same objects. Method: pairs drawn from a seed, few names of many kinds so that they
/// meet often, are merged, compared and taken apart both ways.
@Suite struct PackedObjectTests {
    private static let pairsPerSeed = 400

    @Test(arguments: UInt64(1)...25)
    func bytesDoWhatTreesDo(seed: UInt64) throws {
        var generator = ObjectGenerator(seed: seed)
        for pair in 0..<Self.pairsPerSeed {
            let left = generator.object()
            let right = pair % 3 == 0 ? generator.variant(of: left) : generator.object()
            let (packed, patch) = (PackedObject(left), PackedObject(right))
            let note: Comment = "seed \(seed), pair \(pair): \(packed.text) and \(patch.text)"

            #expect(packed.object.isIdentical(to: left), note)
            #expect(packed.text == written(.object(left)), note)
            #expect((packed == patch) == (left == right), note)
            #expect(packed.merging(patch).object.isIdentical(to: left.merging(right)), note)
            #expect(differences(packed, patch) == TreeDifference(left, right).found, note)
            #expect(Set(patch.leafPaths) == Set(TreeDifference(right, JSONObject()).paths), note)
            for path in patch.leafPaths {
                let onTree = path.names.reduce(.object(left)) { (value: JSONValue?, name) in value?.asObject?[name] }
                #expect(packed[path] == onTree, "\(path), \(note)")
            }
        }
    }

    @Test(arguments: UInt64(1)...10)
    func writtenFieldsAreSetOneByOne(seed: UInt64) {
        var generator = ObjectGenerator(seed: seed)
        var fields = ContentFields()
        for pair in 0..<Self.pairsPerSeed {
            let object = generator.object()
            var expected = ContentState(object)
            fields.removeAll()
            var paths: [FieldPath] = []
            for number in 0..<Int64(pair % 6) {
                let path = generator.path()
                paths.append(path)
                fields.set(path) { $0.append(integer: number) }
                expected[path] = .number(JSONNumber(number))
            }
            let found = ContentState(object).writing(fields)
            #expect(
                found.object.isIdentical(to: expected.object), "seed \(seed), pair \(pair): \(paths) into \(object)")
        }
    }

    @Test func aPatchThatChangesNothingLeavesOneStorage() throws {
        let shown = PackedObject(try object(#"{"status":"near","eta":1795957200,"driver":{"name":"Zoë"}}"#))
        let patch = PackedObject(try object(#"{"driver":{"name":"Zoë"},"status":"near","gone":null}"#))
        #expect(shown.merging(patch).sharesStorage(with: shown))
        #expect(!shown.merging(PackedObject(try object(#"{"status":"far"}"#))).sharesStorage(with: shown))
    }

    @Test func anEmptyOneIsWrittenWithItsBraces() {
        #expect(PackedObject().text == "{}")
        #expect(PackedObject() == PackedObject(JSONObject()) && PackedObject().isEmpty)
        #expect(PackedObject().merging(PackedObject()).isEmpty)
    }

    @Test func aFieldBesideItsLikeIsNotTakenForIt() throws {
        let packed = PackedObject(try object(#"{"a\nb":1,"a":2,"ab":3,"":4,"a\\nb":5}"#))
        let expected: [(String, Int64)] = [("a\nb", 1), ("a", 2), ("ab", 3), ("", 4), ("a\\nb", 5)]
        for (name, number) in expected {
            #expect(packed[FieldPath(names: [name])] == .number(JSONNumber(number)), "\(name)")
        }
        #expect(packed[FieldPath(names: ["b"])] == nil && packed[FieldPath(names: [])] == nil)
    }

    private func differences(_ left: PackedObject, _ right: PackedObject) -> [String] {
        var found: [String] = []
        ContentState(left).forEachDifference(from: ContentState(right)) {
            found.append("\($0.names) \($1.map(written) ?? "-") \($2.map(written) ?? "-")")
        }
        return found.sorted()
    }
}

/// The difference of two trees, as `ContentState.forEachDifference` promises it, from its words alone: all leaves of either side, by path.
private struct TreeDifference {
    private(set) var found: [String] = []
    private(set) var paths: [FieldPath] = []

    init(_ left: JSONObject, _ right: JSONObject) {
        compare(.object(left), .object(right), at: [])
        found.sort()
    }

    private mutating func compare(_ left: JSONValue?, _ right: JSONValue?, at names: [String]) {
        switch (left, right) {
        case (.object(let left)?, .object(let right)?):
            for name in Set(left.members.map(\.name).map(Bytes.init) + right.members.map(\.name).map(Bytes.init)) {
                compare(left[name.text], right[name.text], at: names + [name.text])
            }
        case (.object(let left)?, _) where !left.isEmpty:
            if right != nil { add(nil, right, names) }
            for member in left.members { compare(member.value, nil, at: names + [member.name]) }
        case (_, .object(let right)?) where !right.isEmpty:
            if left != nil { add(left, nil, names) }
            for member in right.members { compare(nil, member.value, at: names + [member.name]) }
        default:
            if left != right { add(left, right, names) }
        }
    }

    private mutating func add(_ left: JSONValue?, _ right: JSONValue?, _ names: [String]) {
        found.append("\(names) \(left.map(written) ?? "-") \(right.map(written) ?? "-")")
        paths.append(FieldPath(names: names))
    }

    /// Names are told apart by their bytes, strings by their normal forms.
    private struct Bytes: Hashable {
        let bytes: [UInt8]

        init(_ text: String) {
            bytes = Array(text.utf8)
        }

        var text: String { String(decoding: bytes, as: UTF8.self) }
    }
}

/// Draws objects, and others that are nearly the same.
private struct ObjectGenerator {
    private static let names = [
        "a", "b", "status", "eta", "straße", "e\u{301}", "\u{E9}", "", "with \"quotes\"", "back\\slash", "line\nbreak",
        "\u{0}", "long enough to be no small string", "😀",
    ]
    private static let numbers = [
        "0", "-0", "0.0", "1", "1.0", "1e0", "10e-1", "100", "1E2", "-7.25", "48.1371540", "48.137154",
        "9007199254740992",
        "9007199254740993", "9007199254740992.0", "18446744073709551616", "1e308", "1e-400", "0.1", "0.10",
    ]
    private var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    mutating func path() -> FieldPath {
        FieldPath(names: (0..<pick([1, 1, 1, 2, 3])).map { _ in pick(Self.names) })
    }

    mutating func object(depth: Int = 0) -> JSONObject {
        var object = JSONObject()
        // Now and then more members than are searched one by one.
        let count = depth == 0 && oneIn(40) ? 150 : Int.random(in: 0...6, using: &random)
        for member in 0..<count {
            object[count > 6 ? "k\(member % 100)" : pick(Self.names)] = value(depth: depth)
        }
        return object
    }

    /// Shuffled, with some members changed, added or gone.
    mutating func variant(of object: JSONObject, depth: Int = 0) -> JSONObject {
        var members = object.members
        if oneIn(2) { members.shuffle(using: &random) }
        var variant = JSONObject()
        for member in members where !oneIn(8) {
            switch member.value {
            case .object(let inner) where !oneIn(4):
                variant[member.name] = .object(self.variant(of: inner, depth: depth + 1))
            case let value: variant[member.name] = oneIn(5) ? self.value(depth: depth) : value
            }
        }
        if oneIn(4) { variant[pick(Self.names)] = value(depth: depth) }
        return variant
    }

    private mutating func value(depth: Int) -> JSONValue {
        switch Int.random(in: 0...(depth < 4 ? 9 : 5), using: &random) {
        case 0: return .null
        case 1: return .bool(oneIn(2))
        case 2, 3:
            let text = pick(Self.numbers)
            return .number(JSONNumber(double: Double(text) ?? .nan, text: text))
        case 4, 5: return .string(pick(Self.names))
        case 6: return .array((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth: depth + 1) })
        default: return .object(object(depth: depth + 1))
        }
    }

    private mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[Int.random(in: choices.indices, using: &random)]
    }

    private mutating func oneIn(_ chances: Int) -> Bool {
        Int.random(in: 0..<chances, using: &random) == 0
    }
}

private func written(_ value: JSONValue) -> String {
    var buffer = ByteBuffer()
    buffer.append(value)
    return buffer.text
}

extension PackedObject {
    var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}

extension JSONObject {
    /// The same members in the same order, numbers by their text.
    fileprivate func isIdentical(to other: JSONObject) -> Bool {
        self == other && written(.object(self)) == written(.object(other))
    }
}
