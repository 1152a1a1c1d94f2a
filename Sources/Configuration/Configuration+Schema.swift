extension Configuration {
    /// The file's JSON Schema for editors. Draft 7, the newest that yaml-language-server documents.
    public static var schema: String {
        guard case .object(let members) = KeyTree.root.schema else { return "" }
        let head: [(String, JSONDocument)] = [
            ("$schema", .string("http://json-schema.org/draft-07/schema#")),
            ("title", .string("Waypulse configuration")),
        ]
        return JSONDocument.object(head + members).text() + "\n"
    }
}

extension KeyTree {
    fileprivate var schema: JSONDocument {
        switch self {
        case .option(let declaration): declaration.schema
        case .section(let children):
            .object(
                [
                    ("type", .array([.string("object"), .string("null")])), ("additionalProperties", .bool(false)),
                    ("properties", .object(children.map { ($0.name, $0.tree.schema) })),
                ] + required(children))
        case .each(_, let tree):
            .object([
                ("type", .array([.string("object"), .string("null")])),
                ("propertyNames", .object([("pattern", .string("^[A-Za-z0-9_-]{1,128}$"))])),
                ("additionalProperties", tree.schema),
            ])
        }
    }

    private func required(_ children: [(name: String, tree: KeyTree)]) -> [(String, JSONDocument)] {
        let names = children.compactMap { child in
            if case .option(let declaration) = child.tree, declaration.isRequired {
                JSONDocument.string(child.name)
            } else {
                nil
            }
        }
        return names.isEmpty ? [] : [("required", .array(names))]
    }
}

extension Declaration {
    fileprivate var schema: JSONDocument {
        var members: [(String, JSONDocument)] = [("description", .string(text))]
        if let value = standardValue { members.append(("default", value.json(written: standard))) }
        return .object(members + kind.schema)
    }
}

extension Kind {
    fileprivate var schema: [(String, JSONDocument)] {
        switch self {
        case .flag: [("type", .string("boolean"))]
        case .integer(let range):
            [
                ("type", .string("integer")), ("minimum", .number(String(range.lowerBound))),
                ("maximum", .number(String(range.upperBound))),
            ]
        case .number(let range, let orOff): orOff ? Self.offOr(Self.number(range)) : Self.number(range)
        case .duration(_, let orOff):
            Self.pattern("^(0|([0-9]+(\\.[0-9]+)?(ms|s|m|h|d))+\(orOff ? "|off" : ""))$", orNumber: "0")
        case .size: Self.pattern("^[0-9]+ ?(KiB|MiB|GiB)?$", orNumber: nil)
        case .choice(let words): [("enum", .array(words.map { .string($0) }))]
        case .text(let rule): [("type", .string("string")), ("pattern", .string(rule.pattern))]
        case .path, .secretFile: [("type", .string("string")), ("minLength", .number("1"))]
        case .address(let orOff):
            [("type", .string("string")), ("pattern", .string("^(.+:[0-9]{1,5}\(orOff ? "|off" : ""))$"))]
        case .speed:
            [
                (
                    "anyOf",
                    .array([
                        .object([("type", .string("number")), ("exclusiveMinimum", .number("0"))]),
                        .object(Self.string("^([0-9.]+x?|max)$")),
                    ])
                )
            ]
        case .redis: Self.string(RedisURL.pattern)
        case .list(let rule):
            [
                ("type", .array([.string("array"), .string("null")])),
                ("items", .object(Self.string(rule.pattern))),
                ("uniqueItems", .bool(true)),
            ]
        case .numbers(let range):
            [
                ("type", .array([.string("object"), .string("null")])),
                ("additionalProperties", .object(Self.number(range))),
            ]
        case .names(let keys, let values, let orOff):
            orOff ? Self.offOr(Self.names(keys, values)) : Self.names(keys, values)
        case .texts:
            [
                ("type", .array([.string("object"), .string("null")])),
                (
                    "additionalProperties",
                    .object([("type", .array([.string("string"), .string("number"), .string("boolean")]))])
                ),
            ]
        case .schema: [("type", .array([.string("string"), .string("object")]))]
        }
    }

    private static func string(_ pattern: String) -> [(String, JSONDocument)] {
        [("type", .string("string")), ("pattern", .string(pattern))]
    }

    /// Digits alone are a number to an editor.
    private static func pattern(_ pattern: String, orNumber only: String?) -> [(String, JSONDocument)] {
        let number: [(String, JSONDocument)] =
            only.map { [("const", .number($0))] } ?? [("type", .string("integer")), ("minimum", .number("0"))]
        return [("anyOf", .array([.object(string(pattern)), .object(number)]))]
    }

    private static func number(_ range: ClosedRange<Double>) -> [(String, JSONDocument)] {
        var members: [(String, JSONDocument)] = [("type", .string("number"))]
        if range.lowerBound == Double.leastNonzeroMagnitude {
            members.append(("exclusiveMinimum", .number("0")))
        } else {
            members.append(("minimum", .number(Quantity.text(number: range.lowerBound))))
        }
        if range.upperBound < .greatestFiniteMagnitude {
            members.append(("maximum", .number(Quantity.text(number: range.upperBound))))
        }
        return members
    }

    private static func names(_ keys: [String]?, _ values: [String]?) -> [(String, JSONDocument)] {
        var members: [(String, JSONDocument)] = [("type", .array([.string("object"), .string("null")]))]
        if let keys { members.append(("propertyNames", .object([("enum", .array(keys.map { .string($0) }))]))) }
        let value: (String, JSONDocument) =
            values.map { ("enum", .array($0.map { .string($0) })) } ?? ("type", .string("string"))
        return members + [("additionalProperties", .object([value]))]
    }

    private static func offOr(_ schema: [(String, JSONDocument)]) -> [(String, JSONDocument)] {
        [("anyOf", .array([.object([("const", .string("off"))]), .object(schema)]))]
    }
}
