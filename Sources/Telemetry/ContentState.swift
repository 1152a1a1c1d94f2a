/// The complete, merged content-state of an activity. Copies share their storage until one of them changes, so `shown`
/// and `latest` cost one while they are equal.
public struct ContentState: Equatable, Sendable {
    public private(set) var object: JSONObject

    public init(_ object: JSONObject = JSONObject()) {
        self.object = object
    }

    public var isEmpty: Bool { object.isEmpty }

    /// JSON Merge Patch (RFC 7396).
    public mutating func apply(_ patch: JSONObject) {
        object.merge(patch)
    }

    /// What stands at the path, nil where nothing does. An object is returned whole.
    public subscript(path: FieldPath) -> JSONValue? {
        get { ContentState.value(in: object, at: path.names[...]) }
        set { ContentState.set(newValue, in: &object, at: path.names[...]) }
    }

    private static func value(in object: JSONObject, at names: ArraySlice<String>) -> JSONValue? {
        guard let first = names.first, let value = object[first] else { return nil }
        let rest = names.dropFirst()
        if rest.isEmpty { return value }
        guard case .object(let inner) = value else { return nil }
        return self.value(in: inner, at: rest)
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
