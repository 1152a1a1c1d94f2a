import Telemetry

/// What very many activities of a shard have in common is kept once: names of attributes types, and lists of fields that events set.
/// Nothing ever leaves, so either is bounded: what finds no place is kept by its activity.
final class Vocabulary {
    /// Stands for nothing; the place of the first word is 1.
    static let none: UInt8 = 0
    /// The activity keeps its own.
    static let apart = UInt8.max

    private static let longestTypeBytes = 128
    private static let mostFields = 16
    private static let longestFieldsBytes = 512

    private let seed: UInt64
    @exclusivity(unchecked) private var types = Words<AttributesTypeName>()
    @exclusivity(unchecked) private var fieldLists = Words<[FieldPath]>()

    init(seed: UInt64) {
        self.seed = seed
    }

    func place(ofType name: String) -> UInt8 {
        guard name.utf8.count <= Vocabulary.longestTypeBytes else { return Vocabulary.apart }
        return types.place(of: AttributesTypeName(text: name)) ?? Vocabulary.apart
    }

    func type(_ place: UInt8) -> String { types[place].text }

    func place(ofFields fields: [FieldPath]) -> UInt8 {
        if fields.isEmpty { return Vocabulary.none }
        guard fields.count <= Vocabulary.mostFields,
            fields.reduce(0, { $0 + $1.names.reduce(0) { $0 + $1.utf8.count } }) <= Vocabulary.longestFieldsBytes
        else { return Vocabulary.apart }
        return fieldLists.place(of: fields) ?? Vocabulary.apart
    }

    func fields(_ place: UInt8) -> [FieldPath] { fieldLists[place] }

    /// By which a target is known to have been one.
    func hash(of target: StartTarget) -> UInt64 {
        switch target {
        case .none: hash(kind: 0)(UnsafeRawBufferPointer(start: nil, count: 0))
        case .updateToken(let token): token.withBytes { hash(kind: 1)($0) }
        case .startToken(let token): token.withBytes { hash(kind: 2)($0) }
        case .channel(var channel): channel.withUTF8 { hash(kind: 3)(UnsafeRawBufferPointer($0)) }
        case .user(var user): user.withUTF8 { hash(kind: 4)(UnsafeRawBufferPointer($0)) }
        }
    }

    private func hash(kind: UInt64) -> SeededHash { SeededHash(seed: seed &+ kind &* 0x9E37_79B9_7F4A_7C15) }

    /// At most so many of either.
    static let limit = 254

    private struct Words<Word: Hashable> {
        private var words: [Word] = []
        private var places: [Word: UInt8] = [:]

        subscript(place: UInt8) -> Word { words[Int(place) - 1] }

        /// Nil where it is full.
        mutating func place(of word: Word) -> UInt8? {
            if let place = places[word] { return place }
            guard words.count < Vocabulary.limit else { return nil }
            words.append(word)
            let place = UInt8(words.count)
            places[word] = place
            return place
        }
    }

    /// Byte for byte, as names are told apart everywhere.
    private struct AttributesTypeName: Hashable {
        let text: String

        static func == (left: AttributesTypeName, right: AttributesTypeName) -> Bool {
            left.text.hasSameBytes(as: right.text)
        }

        func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }
}
