/// The peer's dynamic table for requests, as it stands after what has been sent (RFC 7541 section 2.3.2). Few fields are ever in it, those of
/// templates, so it is searched from end to end.
final class HeaderTable {
    private struct Entry {
        let name: [UInt8]
        let value: [UInt8]
        var size: Int { HeaderTable.size(name: name, value: value) }
    }

    /// The newest last.
    private var entries: [Entry] = []
    private var size = 0
    private(set) var capacity = 4_096
    /// Changes whenever an index may mean another field than before.
    private(set) var version: UInt64 = 0

    static func size(name: [UInt8], value: [UInt8]) -> Int { 32 + name.count + value.count }

    /// Where the peer finds the field now.
    func index(name: [UInt8], value: [UInt8]) -> Int? {
        guard let place = entries.lastIndex(where: { $0.name == name && $0.value == value }) else { return nil }
        return HPACK.staticEntries + entries.count - place
    }

    func insert(name: [UInt8], value: [UInt8]) {
        let entry = Entry(name: name, value: value)
        evict(toFit: capacity - entry.size)
        guard entry.size <= capacity else { return }
        entries.append(entry)
        size += entry.size
        version += 1
    }

    func setCapacity(_ bytes: Int) {
        capacity = bytes
        evict(toFit: bytes)
    }

    private func evict(toFit bytes: Int) {
        while size > bytes, let oldest = entries.first {
            size -= oldest.size
            entries.removeFirst()
            version += 1
        }
    }
}
