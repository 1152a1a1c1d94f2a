extension PackedObject {
    /// JSON Merge Patch (RFC 7396, section 2): null removes, objects merge, anything else replaces. Where nothing changes, the copy shares
    /// its storage.
    public func merging(_ patch: PackedObject) -> PackedObject {
        patch.withValue { merging($0) }
    }

    /// - Parameter patch: an object, of which no two members share a name.
    func merging(_ patch: PackedValue) -> PackedObject {
        guard patch.hasMembers else { return self }
        return withValue { PackedObject.merged($0, with: patch, unchanged: self) }
    }

    /// - Parameter unchanged: what `target` is of, where it is kept.
    static func merged(
        _ target: PackedValue, with patch: PackedValue, unchanged: PackedObject? = nil
    ) -> PackedObject {
        // A member is copied from one side or from the other, and what a comma may cost the other's brace has.
        withUnsafeTemporaryAllocation(byteCount: target.count + patch.count, alignment: 8) { buffer in
            var writer = PackedWriter(buffer)
            guard merge(target, patch, into: &writer) else {
                return PackedObject(target.object.merging(patch.object))
            }
            let merged = PackedValue(writer.written)
            if let unchanged, merged.hasSameBytes(as: target) { return unchanged }
            return PackedObject(packed: [UInt8](merged.bytes))
        }
    }

    /// Beyond it a search from the front for each member costs more than the tree's table of hashes; a message full of keys would take
    /// seconds.
    private static let mostPatchMembers = 64

    /// False where there are too many members for this way.
    private static func merge(_ target: PackedValue?, _ patch: PackedValue, into writer: inout PackedWriter) -> Bool {
        withUnsafeTemporaryAllocation(of: PackedMember.self, capacity: mostPatchMembers) { changes in
            var count = 0
            for member in patch.members {
                guard count < mostPatchMembers else { return false }
                changes.initializeElement(at: count, to: member)
                count += 1
            }
            return merge(target, UnsafeBufferPointer(rebasing: changes[..<count]), into: &writer)
        }
    }

    private static func merge(
        _ target: PackedValue?, _ changes: UnsafeBufferPointer<PackedMember>, into writer: inout PackedWriter
    ) -> Bool {
        // A bit a change: met in the target already.
        var met: UInt64 = 0
        writer.open()
        if let target {
            for member in target.members {
                guard let index = changes.firstIndex(where: { $0.name.hasSameBytes(as: member.name) }) else {
                    writer.append(member: member.text)
                    continue
                }
                met |= 1 << UInt64(index)
                guard write(changes[index], over: member.value, into: &writer) else { return false }
            }
        }
        for index in changes.indices where met & (1 << UInt64(index)) == 0 {
            guard write(changes[index], over: nil, into: &writer) else { return false }
        }
        writer.close()
        return true
    }

    private static func write(
        _ change: PackedMember, over current: PackedValue?, into writer: inout PackedWriter
    ) -> Bool {
        if change.value.isNull { return true }
        guard change.value.isObject else {
            writer.append(member: change.text)
            return true
        }
        writer.append(name: change.name)
        let inner = current.flatMap { $0.isObject ? $0 : nil }
        return merge(inner, change.value, into: &writer)
    }
}

/// Writes an object's members one behind the other into memory that was measured beforehand.
struct PackedWriter {
    private let buffer: UnsafeMutableRawBufferPointer
    private var count = 0

    init(_ buffer: UnsafeMutableRawBufferPointer) {
        self.buffer = buffer
    }

    var written: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }

    mutating func open() {
        append(UInt8(ascii: "{"))
    }

    mutating func close() {
        append(UInt8(ascii: "}"))
    }

    mutating func append(member: PackedValue) {
        separate()
        append(member)
    }

    /// The colon as well.
    mutating func append(name: PackedValue) {
        separate()
        append(name)
        append(UInt8(ascii: ":"))
    }

    private mutating func separate() {
        if buffer[count - 1] != UInt8(ascii: "{") { append(UInt8(ascii: ",")) }
    }

    private mutating func append(_ byte: UInt8) {
        precondition(count < buffer.count, "more is written than was measured")
        buffer[count] = byte
        count += 1
    }

    private mutating func append(_ value: PackedValue) {
        precondition(count + value.count <= buffer.count, "more is written than was measured")
        buffer.baseAddress.unsafelyUnwrapped.advanced(by: count).copyMemory(from: value.start, byteCount: value.count)
        count += value.count
    }
}
