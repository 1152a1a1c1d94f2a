import Telemetry

extension ContentSchema {
    /// - Parameters:
    ///   - schema: of an object, as JSON Schema.
    ///   - dates: fields that are dates, whatever form the schema describes: that of producers or that of the phone.
    ///   - supplied: fields that are written only when an update leaves, such as the sequence and the position.
    /// - Throws: for anything that cannot be checked, naming it.
    public static func compile(
        _ schema: JSONValue, dates: [DateField] = [], supplied: [FieldPath] = []
    ) throws(SchemaFault) -> ContentSchema {
        let compiler = SchemaCompiler(supplied: FieldTree(shed: supplied))
        let root = try compiler.node(schema, at: "", dates: FieldTree(dates: dates), supplied: compiler.supplied)
        guard root.types?.contains(.object) ?? true else {
            throw SchemaFault(pointer: "/type", problem: "must be \"object\": content-state and attributes are objects")
        }
        return ContentSchema(root: root)
    }

    /// Whether the schema demands the field of each object that could hold it.
    func requires(_ path: FieldPath) -> Bool {
        root.requires(path.names[...])
    }
}

extension SchemaNode {
    fileprivate func requires(_ names: ArraySlice<String>) -> Bool {
        if let items = items.first, items.requires(names) { return true }
        guard let first = names.first else { return false }
        if names.count == 1 { return required.contains { $0.name.hasSameBytes(as: first) } }
        let node = propertyIndex(first).map { properties[$0].node } ?? additional.first
        return node?.requires(names.dropFirst()) ?? false
    }
}

private struct SchemaCompiler {
    /// Describe, and ask nothing.
    private static let annotations: Set<String> = [
        "$schema", "$id", "$comment", "title", "description", "default", "examples", "deprecated", "readOnly",
        "writeOnly",
    ]

    let supplied: FieldTree

    func node(
        _ schema: JSONValue, at pointer: String, dates: FieldTree?, supplied: FieldTree?
    ) throws(SchemaFault) -> SchemaNode {
        var node = SchemaNode()
        switch schema {
        case .bool(true): break
        case .bool(false): node.types = []
        case .object(let object):
            for member in object.members {
                try read(
                    member.name, member.value, at: "\(pointer)/\(escaped(member.name))", into: &node, dates, supplied)
            }
        default:
            throw SchemaFault(pointer: pointer, problem: "must be a schema: an object, true or false")
        }
        try checkRanges(node, at: pointer)
        allowSupplied(supplied, in: &node)
        try declareDates(dates, in: &node, at: pointer)
        return node
    }

    private func read(
        _ keyword: String, _ value: JSONValue, at pointer: String, into node: inout SchemaNode, _ dates: FieldTree?,
        _ supplied: FieldTree?
    ) throws(SchemaFault) {
        switch keyword {
        case "type": node.types = try types(value, at: pointer)
        case "required":
            node.required = try strings(value, at: pointer).map { name in
                SchemaNode.Requirement(name: name, isSupplied: supplied?.child(name) != nil)
            }
        case "properties":
            for member in try members(value, at: pointer) {
                let child = try self.node(
                    member.value, at: "\(pointer)/\(escaped(member.name))", dates: dates?.child(member.name),
                    supplied: supplied?.child(member.name))
                node.properties.append(SchemaNode.Property(name: member.name, node: child))
            }
        case "additionalProperties":
            if case .bool(let isOpen) = value {
                node.isClosed = !isOpen
            } else {
                node.additional = [try self.node(value, at: pointer, dates: nil, supplied: nil)]
            }
        case "items": node.items = [try self.node(value, at: pointer, dates: dates, supplied: supplied)]
        case "enum":
            guard case .array(let values) = value, !values.isEmpty else {
                throw SchemaFault(pointer: pointer, problem: "must be an array of at least one value")
            }
            node.allowed = (node.allowed ?? values).filter(values.contains)
        case "const": node.allowed = (node.allowed ?? [value]).filter { $0 == value }
        case "minItems": node.minItems = try count(value, at: pointer)
        case "maxItems": node.maxItems = try count(value, at: pointer)
        case "minLength": node.minLength = try count(value, at: pointer)
        case "maxLength": node.maxLength = try count(value, at: pointer)
        case "minimum": node.minimum = try number(value, at: pointer)
        case "maximum": node.maximum = try number(value, at: pointer)
        case "format": try readFormat(value, at: pointer, into: &node)
        default:
            guard SchemaCompiler.annotations.contains(keyword) else {
                throw SchemaFault(
                    pointer: pointer,
                    problem: "uses the keyword \"\(keyword)\", which is not among those that can be checked; remove it")
            }
        }
    }

    private func readFormat(_ value: JSONValue, at pointer: String, into node: inout SchemaNode) throws(SchemaFault) {
        switch value.asString {
        case "date-time": node.isDateTime = true
        case "date": node.isFullDate = true
        default:
            throw SchemaFault(
                pointer: pointer, problem: "must be \"date-time\" or \"date\"; no other format can be checked")
        }
    }

    private func types(_ value: JSONValue, at pointer: String) throws(SchemaFault) -> SchemaTypes {
        let names: [String] = if let name = value.asString { [name] } else { try strings(value, at: pointer) }
        var types: SchemaTypes = []
        for name in names {
            guard let named = SchemaTypes.named.first(where: { $0.name == name }) else {
                throw SchemaFault(pointer: pointer, problem: "names the type \"\(name)\", which JSON does not have")
            }
            types.insert(named.type)
        }
        guard !types.isEmpty else { throw SchemaFault(pointer: pointer, problem: "must name at least one type") }
        return types
    }

    private func strings(_ value: JSONValue, at pointer: String) throws(SchemaFault) -> [String] {
        let fault = SchemaFault(pointer: pointer, problem: "must be an array of strings")
        guard case .array(let elements) = value else { throw fault }
        let strings = elements.compactMap(\.asString)
        guard strings.count == elements.count else { throw fault }
        return strings
    }

    private func members(_ value: JSONValue, at pointer: String) throws(SchemaFault) -> [JSONObject.Member] {
        guard case .object(let object) = value else {
            throw SchemaFault(pointer: pointer, problem: "must be an object")
        }
        return object.members
    }

    private func count(_ value: JSONValue, at pointer: String) throws(SchemaFault) -> Int {
        guard let double = value.asDouble, double >= 0, double <= 1e9, double == double.rounded() else {
            throw SchemaFault(pointer: pointer, problem: "must be a whole number, 0 or more")
        }
        return Int(double)
    }

    private func number(_ value: JSONValue, at pointer: String) throws(SchemaFault) -> JSONNumber {
        guard case .number(let number) = value else { throw SchemaFault(pointer: pointer, problem: "must be a number") }
        return number
    }

    /// A limit below its counterpart would refuse everything.
    private func checkRanges(_ node: SchemaNode, at pointer: String) throws(SchemaFault) {
        if node.minItems > node.maxItems { throw SchemaFault(pointer: pointer, problem: "has minItems above maxItems") }
        if node.minLength > node.maxLength {
            throw SchemaFault(pointer: pointer, problem: "has minLength above maxLength")
        }
        if let minimum = node.minimum, let maximum = node.maximum, minimum.double > maximum.double {
            throw SchemaFault(pointer: pointer, problem: "has minimum above maximum")
        }
        if let allowed = node.allowed, allowed.isEmpty {
            throw SchemaFault(pointer: pointer, problem: "has a const that its enum does not allow")
        }
    }

    /// What is written when an update leaves is no fault of the producer's, and the phone ignores members that it does not know.
    private func allowSupplied(_ supplied: FieldTree?, in node: inout SchemaNode) {
        guard node.isClosed, let supplied else { return }
        for child in supplied.children where node.propertyIndex(child.name) == nil {
            node.properties.append(SchemaNode.Property(name: child.name, node: SchemaNode()))
        }
    }

    /// A date field is checked whether or not the schema mentions it.
    private func declareDates(
        _ dates: FieldTree?, in node: inout SchemaNode, at pointer: String, isElement: Bool = false
    ) throws(SchemaFault) {
        guard let dates, !dates.isEmpty else { return }
        node.date = dates.date
        for child in dates.children where node.propertyIndex(child.name) == nil {
            if node.isClosed {
                throw SchemaFault(
                    pointer: pointer,
                    problem: "allows no property \"\(child.name)\", which is configured as a date or to hold one")
            }
            var inner = node.additional.first ?? SchemaNode()
            try declareDates(child.tree, in: &inner, at: pointer)
            node.properties.append(SchemaNode.Property(name: child.name, node: inner))
        }
        // Paths pass through arrays, but not through arrays of arrays.
        if node.items.isEmpty, !isElement {
            var element = SchemaNode()
            try declareDates(dates, in: &element, at: pointer, isElement: true)
            node.items = [element]
        }
    }
}

/// A member's name as a reference token of a JSON Pointer.
private func escaped(_ name: String) -> String {
    var token = ""
    for character in name {
        switch character {
        case "~": token += "~0"
        case "/": token += "~1"
        default: token.append(character)
        }
    }
    return token
}
