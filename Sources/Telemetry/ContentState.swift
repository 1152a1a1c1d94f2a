/// The complete, merged content-state of an activity. Immutable bytes behind one reference, so that `shown` and `latest` cost one while they
/// are equal, and telling that they are costs nothing.
public struct ContentState: Equatable, Sendable {
    public private(set) var packed: PackedObject

    public init() {
        packed = PackedObject()
    }

    public init(_ object: JSONObject) {
        packed = PackedObject(object)
    }

    public init(_ packed: PackedObject) {
        self.packed = packed
    }

    public var isEmpty: Bool { packed.isEmpty }

    /// Whether both are copies of one value. False says nothing.
    public func sharesStorage(with other: ContentState) -> Bool { packed.sharesStorage(with: other.packed) }

    /// The same as a tree, made anew at each call.
    public var object: JSONObject { packed.object }

    /// How many bytes `ByteBuffer` would write.
    public var byteCount: Int { packed.byteCount }

    /// JSON Merge Patch (RFC 7396).
    public mutating func apply(_ patch: PackedObject) {
        packed = packed.merging(patch)
    }

    /// JSON Merge Patch (RFC 7396).
    public mutating func apply(_ patch: JSONObject) {
        apply(PackedObject(patch))
    }

    public func applying(_ patch: PackedObject) -> ContentState {
        ContentState(packed.merging(patch))
    }

    /// What stands at the path, nil where nothing does. An object is returned whole.
    public subscript(path: FieldPath) -> JSONValue? {
        get { packed[path] }
        set {
            var object = packed.object
            ContentState.set(newValue, in: &object, at: path.names[...])
            packed = PackedObject(object)
        }
    }

    /// Objects on the way are made where they are missing, and replace what is no object.
    private static func set(_ value: JSONValue?, in object: inout JSONObject, at names: ArraySlice<String>) {
        guard let first = names.first else { return }
        let rest = names.dropFirst()
        if rest.isEmpty {
            object[first] = value
            return
        }
        var inner = JSONObject()
        if case .object(let present)? = object[first] {
            inner = present
        } else if value == nil {
            return
        }
        set(value, in: &inner, at: rest)
        object[first] = .object(inner)
    }
}
