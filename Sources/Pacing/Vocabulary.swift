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

    @exclusivity(unchecked) private var types = Words<AttributesTypeName>()
    @exclusivity(unchecked) private var fieldLists = Words<[FieldPath]>()

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

    /// By which a target is known to have been one. Checkpoints keep it, so it is the same in every process.
    func hash(of target: StartTarget) -> UInt64 {
        let hash =
            switch target {
            case .none: UInt64(0)
            case .updateToken(let token): token.withBytes { KeyedHash.stored.hash($0) &+ 1 }
            case .startToken(let token): token.withBytes { KeyedHash.stored.hash($0) &+ 2 }
            case .channel(var channel):
                channel.withUTF8 { KeyedHash.stored.hash(UnsafeRawBufferPointer($0)) &+ 3 }
            case .user(var user): user.withUTF8 { KeyedHash.stored.hash(UnsafeRawBufferPointer($0)) &+ 4 }
            }
        // 0 stands for none.
        return max(1, hash)
    }

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
