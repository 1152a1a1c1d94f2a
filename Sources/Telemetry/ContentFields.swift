/// Fields with the numbers that are to be written into a content-state, in turn. Its memory is reused, so keep one for many updates.
public struct ContentFields: Sendable {
    /// Merge patches, one behind the other: one, unless fields lie inside others.
    private var patches = ByteBuffer()
    /// Where the last one begins.
    private var last = 0
    private var lastIsFlat = false

    public init() {}

    public mutating func removeAll() {
        patches.removeAll()
        last = 0
        lastIsFlat = false
    }

    /// - Parameter write: appends the number.
    public mutating func set(_ field: FieldPath, _ write: (inout ByteBuffer) -> Void) {
        guard let name = field.names.first else { return }
        if field.names.count == 1, lastIsFlat, !lastHas(name) {
            patches.truncate(to: patches.count - 1)
            patches.append(byte: UInt8(ascii: ","))
        } else {
            // What is written later wins, whether it lies above or below.
            last = patches.count
            lastIsFlat = field.names.count == 1
            for outer in field.names.dropLast() {
                patches.append(byte: UInt8(ascii: "{"))
                patches.append(string: outer)
                patches.append(byte: UInt8(ascii: ":"))
            }
            patches.append(byte: UInt8(ascii: "{"))
        }
        patches.append(string: field.names[field.names.count - 1])
        patches.append(byte: UInt8(ascii: ":"))
        write(&patches)
        for _ in 0..<(lastIsFlat ? 1 : field.names.count) { patches.append(byte: UInt8(ascii: "}")) }
    }

    private func lastHas(_ name: String) -> Bool {
        patches.withUnsafeBytes {
            PackedValue(UnsafeRawBufferPointer(rebasing: $0[last...])).members.first(named: name) != nil
        }
    }

    fileprivate func write(into object: PackedObject) -> PackedObject {
        guard !patches.isEmpty else { return object }
        return patches.withUnsafeBytes { patches in
            var written = object
            let all = PackedValue(patches)
            var position = all.start
            while position < all.end {
                let end = PackedValue.end(from: position, before: all.end)
                written = written.merging(PackedValue(start: position, count: end - position))
                position = end
            }
            return written
        }
    }
}

extension ContentState {
    /// With the fields in it: each takes the place of what stood there, or comes last. Objects on the way are made where they are missing, and
    /// replace what is no object.
    public func writing(_ fields: ContentFields) -> ContentState {
        ContentState(fields.write(into: packed))
    }
}
