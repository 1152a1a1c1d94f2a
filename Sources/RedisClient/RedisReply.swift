/// A reply, or a part of one: lent, valid until the callback that it was handed to returns.
///
/// As a sequence it is the elements of an array, and empty for everything else; a missing or nil part is nil-like rather than a trap, since
/// Redis answers with nil at many a level (a deleted entry, a missing key, a read that waited in vain).
public struct RedisReply: Sequence {
    public enum Kind: UInt8, Sendable { case string, array, integer, nothing, status, error }

    let arena: UnsafePointer<ReplyArena>
    let index: Int

    private var node: ReplyArena.Node { arena.pointee.nodes[index] }

    public var kind: Kind { node.kind }
    public var isNil: Bool { node.kind == .nothing }

    /// Of all strings in the whole reply that this is or is a part of.
    public var byteCount: Int { arena.pointee.bytes.count }

    /// How many elements an array has; 0 for everything else.
    public var count: Int { node.kind == .array ? Int(node.count) : 0 }

    /// Of a string, a status or an error.
    public var bytes: UnsafeRawBufferPointer? {
        switch node.kind {
        case .string, .status, .error: arena.pointee.contents(node)
        case .array, .integer, .nothing: nil
        }
    }

    public var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    /// An integer, or a string that is one.
    public var integer: Int64? { node.kind == .integer ? node.value : bytes.flatMap { Decimal.signed($0) } }

    public func equals(_ text: StaticString) -> Bool {
        guard let bytes, bytes.count == text.utf8CodeUnitCount else { return false }
        return bytes.elementsEqual(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// An element of an array; nil beyond its end and for what is no array. Steps over the elements before it.
    public subscript(_ position: Int) -> RedisReply? {
        guard position >= 0, position < count else { return nil }
        var iterator = makeIterator()
        for _ in 0..<position { _ = iterator.next() }
        return iterator.next()
    }

    public func makeIterator() -> Iterator { Iterator(arena: arena, following: count > 0 ? index + 1 : 0) }

    public struct Iterator: IteratorProtocol {
        let arena: UnsafePointer<ReplyArena>
        /// 0 at the end.
        var following: Int

        public mutating func next() -> RedisReply? {
            guard following > 0 else { return nil }
            defer { following = Int(arena.pointee.nodes[following].next) }
            return RedisReply(arena: arena, index: following)
        }
    }

    public var underestimatedCount: Int { count }
}
