import Telemetry

struct SchemaTypes: OptionSet, Sendable {
    let rawValue: UInt8

    static let null = SchemaTypes(rawValue: 1)
    static let boolean = SchemaTypes(rawValue: 2)
    static let integer = SchemaTypes(rawValue: 4)
    static let number = SchemaTypes(rawValue: 8)
    static let string = SchemaTypes(rawValue: 16)
    static let array = SchemaTypes(rawValue: 32)
    static let object = SchemaTypes(rawValue: 64)

    static let named: [(name: String, type: SchemaTypes)] = [
        ("null", .null), ("boolean", .boolean), ("integer", .integer), ("number", .number), ("string", .string),
        ("array", .array), ("object", .object),
    ]

    var description: String {
        let names = SchemaTypes.named.filter { contains($0.type) }.map(\.name)
        return names.isEmpty ? "absent" : names.joined(separator: " or ")
    }
}

/// One compiled schema: a rule that is absent asks nothing.
struct SchemaNode: Sendable {
    struct Property: Sendable {
        let name: String
        var node: SchemaNode
    }

    struct Requirement: Sendable {
        let name: String
        /// Written when an update leaves, so producers owe nothing.
        let isSupplied: Bool
    }

    var types: SchemaTypes?
    var required: [Requirement] = []
    var properties: [Property] = []
    var isClosed = false
    /// What `additionalProperties` and `items` describe: none or one each (an array, since a struct cannot hold itself).
    var additional: [SchemaNode] = []
    var items: [SchemaNode] = []
    var allowed: [JSONValue]?
    var minItems = 0
    var maxItems = Int.max
    var minimum: JSONNumber?
    var maximum: JSONNumber?
    /// In code points.
    var minLength = 0
    var maxLength = Int.max
    var isDateTime = false
    var isFullDate = false
    /// Set where the configuration declares a date field.
    var date: DateFormat?

    /// Whether every object fits.
    var isUnbounded: Bool {
        types == nil && required.isEmpty && properties.isEmpty && !isClosed && additional.isEmpty && allowed == nil
            && date == nil
    }

    /// By index, so that a node is asked where it lies: a copy would count references for each of its arrays.
    func propertyIndex(_ name: String) -> Int? {
        for index in properties.indices where properties[index].name.hasSameBytes(as: name) { return index }
        return nil
    }
}
