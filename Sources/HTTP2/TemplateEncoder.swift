/// Encodes templates for one connection: the first request that uses one writes its fields into the peer's table, all others copy a few
/// bytes that point there.
final class TemplateEncoder {
    private let table = HeaderTable()
    private let largestTable: Int
    private var prepared: [PreparedTemplate] = []
    /// The one that was asked for last, and is most likely to be asked for again.
    private var recent: PreparedTemplate.Reference?
    /// Of its template, which it keeps: so no other one has that address.
    private var recentIdentity: UnsafeMutableRawPointer?
    private var update = Region()
    /// The smallest size since the last block, if it has changed: the peer must hear of it (RFC 7541 section 4.2).
    private var smallestNewCapacity: Int?

    /// - Parameter largestTable: whatever the peer would allow.
    init(largestTable: Int) {
        self.largestTable = largestTable
        // Until its SETTINGS say otherwise the peer has a table of 4096 bytes.
        setCapacity(min(table.capacity, largestTable))
    }

    deinit {
        update.free()
    }

    /// The peer's SETTINGS_HEADER_TABLE_SIZE.
    func peerAllows(_ bytes: UInt32) { setCapacity(min(Int(bytes), largestTable)) }

    private func setCapacity(_ bytes: Int) {
        guard bytes != table.capacity else { return }
        table.setCapacity(bytes)
        smallestNewCapacity = min(smallestNewCapacity ?? bytes, bytes)
    }

    /// Keeps a template for a request that waits to be framed; `release` lets it go.
    func retain(_ template: Unmanaged<RequestTemplate>) -> PreparedTemplate.Reference {
        if template.toOpaque() != recentIdentity {
            let wanted = template.takeUnretainedValue()
            recent = Unmanaged.passUnretained(prepared.first { $0.template === wanted } ?? prepare(wanted))
            recentIdentity = template.toOpaque()
        }
        recent!._withUnsafeGuaranteedRef { $0.waiting += 1 }
        return recent!
    }

    private func prepare(_ template: RequestTemplate) -> PreparedTemplate {
        let new = PreparedTemplate(template)
        // Few are in use at a time: one per priority, and twice as many while a credential is replaced.
        if prepared.count >= 8, let unused = prepared.firstIndex(where: { $0.waiting == 0 }) {
            prepared[unused] = new
        } else {
            prepared.append(new)
        }
        return new
    }

    func release(_ reference: PreparedTemplate.Reference) {
        reference._withUnsafeGuaranteedRef { $0.waiting -= 1 }
    }

    /// What must stand at the beginning of the next block: new sizes of the table; most often nothing. Lent until the next call.
    func takeUpdate() -> UnsafeRawBufferPointer {
        guard let smallest = smallestNewCapacity else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        smallestNewCapacity = nil
        update.clear()
        if smallest < table.capacity {
            update.append(integer: smallest, prefixBits: 5, pattern: HPACK.tableSize)
        }
        update.append(integer: table.capacity, prefixBits: 5, pattern: HPACK.tableSize)
        return update.contents
    }

    /// The template's fields, for the next block that is sent. Lent until the next call.
    func block(_ reference: PreparedTemplate.Reference) -> UnsafeRawBufferPointer {
        reference._withUnsafeGuaranteedRef { prepared in
            if prepared.version != table.version { encode(prepared) }
            return prepared.encoded
        }
    }

    private func encode(_ prepared: PreparedTemplate) {
        let before = table.version
        var block = prepared.block
        block.clear()
        for field in prepared.template.fields {
            switch field {
            case .encoded(let bytes): bytes.withUnsafeBytes { block.append($0) }
            case .indexed(let name, let value): encode(name, value, into: &block)
            }
        }
        prepared.block = block
        prepared.encoded = block.contents
        // One that fills the table says other things when it is sent twice.
        prepared.version = table.version == before ? before : nil
    }

    private func encode(_ name: [UInt8], _ value: [UInt8], into block: inout Region) {
        if let place = table.index(name: name, value: value) {
            return block.append(integer: place, prefixBits: 7, pattern: HPACK.indexed)
        }
        name.withUnsafeBytes { nameBytes in
            value.withUnsafeBytes { valueBytes in
                // One that takes most of the table would push out what it is for.
                if HeaderTable.size(name: name, value: value) <= table.capacity / 2 {
                    table.insert(name: name, value: value)
                    block.append(inserting: nameBytes, valueBytes)
                } else {
                    block.append(HPACK.withoutIndexing)
                    block.append(string: nameBytes)
                    block.append(string: valueBytes)
                }
            }
        }
    }
}

/// A template as one connection sends it.
final class PreparedTemplate {
    /// The encoder keeps it while requests wait.
    typealias Reference = Unmanaged<PreparedTemplate>

    let template: RequestTemplate
    /// Requests that are taken and not yet framed.
    fileprivate var waiting = 0
    fileprivate var block = Region()
    fileprivate var encoded = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Of the table for which `block` was made; nil where it must not be sent again.
    fileprivate var version: UInt64?

    init(_ template: RequestTemplate) { self.template = template }

    deinit { block.free() }
}
