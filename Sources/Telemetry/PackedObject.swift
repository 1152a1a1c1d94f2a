/// A JSON object as its bytes: no blanks, members in the order in which they came, numbers with their producer's text, strings with the
/// escapes that JSON demands and no others; what `ByteBuffer` writes of the same object.
///
/// However many members it has, it is one allocation; copies share it; and a payload takes it over as it stands.
public struct PackedObject: Sendable {
    /// Well-formed by construction: whoever walks it need not ask again.
    let bytes: [UInt8]

    private static let emptyBytes: [UInt8] = [UInt8(ascii: "{"), UInt8(ascii: "}")]

    /// - Parameter bytes: an object in the form that the type promises.
    init(packed bytes: [UInt8]) {
        self.bytes = bytes
    }

    public init() {
        bytes = PackedObject.emptyBytes
    }

    public init(_ object: JSONObject) {
        guard !object.isEmpty else {
            self.init()
            return
        }
        var buffer = ByteBuffer(capacity: object.byteCount)
        buffer.append(object)
        self.init(packed: buffer.bytes)
    }

    public var isEmpty: Bool { bytes.count == 2 }
    public var byteCount: Int { bytes.count }

    /// The same as a tree.
    public var object: JSONObject { withValue { $0.object } }

    /// What stands at the path, nil where nothing does. An object is returned whole.
    public subscript(path: FieldPath) -> JSONValue? {
        withValue { value in
            var value = value
            guard !path.names.isEmpty else { return nil }
            for name in path.names {
                guard value.isObject, let member = value.members.first(named: name) else { return nil }
                value = member.value
            }
            return value.tree
        }
    }

    /// The paths of its leaves: what is no object, or an empty one. Of a merge patch, what it sets and removes.
    public var leafPaths: [FieldPath] {
        var paths: [FieldPath] = []
        withValue { $0.collectLeafPaths(under: FieldPath(names: []), into: &paths) }
        return paths
    }

    /// Lends the bytes.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }

    /// Lends the bytes as a value.
    @inline(__always)
    func withValue<Result>(_ body: (PackedValue) -> Result) -> Result {
        bytes.withUnsafeBytes { body(PackedValue(start: $0.baseAddress.unsafelyUnwrapped, count: $0.count)) }
    }

    /// Whether both are copies of one value. False says nothing.
    func sharesStorage(with other: PackedObject) -> Bool {
        bytes.withUnsafeBytes { own in
            other.bytes.withUnsafeBytes { own.baseAddress == $0.baseAddress && own.count == $0.count }
        }
    }
}

extension PackedObject: Equatable {
    /// By JSON value, as the trees would be.
    public static func == (left: PackedObject, right: PackedObject) -> Bool {
        if left.sharesStorage(with: right) { return true }
        return left.withValue { left in right.withValue { left.isEqual(to: $0) } }
    }
}

extension PackedObject {
    /// The bytes of a packed object that was kept somewhere whole; nil where they cannot be one. They are looked at no closer: who kept them
    /// has to know that they are the same.
    public init?(saved bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "}") else { return nil }
        self.init(packed: Array(bytes))
    }
}
