extension ValueReader {
    mutating func list(_ node: Node, of rule: TextRule) -> OptionValue? {
        if node.isNull { return .list([]) }
        guard case .sequence(let items) = node.content else {
            let problem = "is \(node.says), expected a list"
            return note(node.mark, Refusal(problem: problem, remedy: "write [a, b], or one - item a line"))
        }
        var words: [String] = []
        for item in items {
            guard case .scalar(let word, _) = item.content, rule.accepts(word) else {
                note(item.mark, Refusal(problem: "holds \(item.says), expected \(rule.says)", remedy: nil))
                continue
            }
            guard !words.contains(word) else {
                note(item.mark, Refusal(problem: "\"\(word)\" is listed twice", remedy: "remove one"))
                continue
            }
            words.append(word)
        }
        return .list(words)
    }

    mutating func numbers(_ node: Node, _ range: ClosedRange<Double>) -> OptionValue? {
        words(node, expected: "a number", orOff: false) { word, isPlain throws(Refusal) in
            try Kind.number(word, isPlain: isPlain, range)
        }
        .map { .numbers($0) }
    }

    mutating func names(_ node: Node, keys: [String]?, values: [String]?, orOff: Bool) -> OptionValue? {
        if orOff, case .scalar("off", _) = node.content { return .off }
        let expected = values == nil ? TextRule.fieldPath.says : "one word"
        return words(node, keys: keys, expected: expected, orOff: orOff) { word, _ throws(Refusal) in
            if let values { return try Kind.word(word, of: values) }
            guard TextRule.fieldPath.accepts(word) else {
                throw Refusal(problem: "\"\(word)\" is not \(TextRule.fieldPath.says)", remedy: nil)
            }
            return word
        }
        .map { .names($0) }
    }

    /// A number or a truth value is the text it was written as.
    mutating func texts(_ node: Node) -> OptionValue? {
        words(node, expected: "a text", orOff: false) { word, _ throws(Refusal) in word }.map { .texts($0) }
    }

    func schemaSource(_ node: Node) -> SchemaSource? {
        switch node.content {
        case .scalar(let path, _) where !path.isEmpty && !path.utf8.contains(0): .file(path)
        case .mapping: .inline(node.json)
        default: nil
        }
    }

    mutating func schema(_ node: Node) -> OptionValue? {
        guard let source = schemaSource(node) else {
            return note(node.mark, Refusal(problem: "is \(node.says), expected a path or a schema", remedy: nil))
        }
        return .schema(source)
    }

    /// A mapping of one word each; what is refused is noted and left out. nil where it is no mapping.
    private mutating func words<Value>(
        _ node: Node, keys: [String]? = nil, expected: String, orOff: Bool,
        _ read: (String, _ isPlain: Bool) throws(Refusal) -> Value
    ) -> [String: Value]? {
        if node.isNull { return [:] }
        guard case .mapping(let entries) = node.content else {
            let problem = "is \(node.says), expected a mapping" + (orOff ? " or off" : "")
            note(node.mark, Refusal(problem: problem, remedy: "write one name: value a line"))
            return nil
        }
        var values: [String: Value] = [:]
        for entry in entries {
            let below = "." + entry.key
            do throws(Refusal) {
                try Self.check(entry, keys: keys)
            } catch {
                note(entry.keyMark, below: below, error)
                continue
            }
            guard case .scalar(let word, let isPlain) = entry.value.content, !entry.value.isNull else {
                let problem = "is \(entry.value.says), expected \(expected)"
                note(entry.value.mark, below: below, Refusal(problem: problem, remedy: Self.pathAdvice(entry)))
                continue
            }
            do throws(Refusal) {
                values[entry.key] = try read(word, isPlain)
            } catch {
                note(entry.value.mark, below: below, error)
            }
        }
        return values
    }

    private static func check(_ entry: Node.Entry, keys: [String]?) throws(Refusal) {
        if let keys {
            guard keys.contains(entry.key) else {
                let remedy = NearestMatch.of(entry.key, in: keys).map { "did you mean \($0)?" }
                throw Refusal(problem: "is not one of \(keys.joined(separator: ", "))", remedy: remedy)
            }
        } else if !TextRule.fieldPath.accepts(entry.key) {
            throw Refusal(problem: "\"\(entry.key)\" is not \(TextRule.fieldPath.says)", remedy: nil)
        }
    }

    private static func pathAdvice(_ entry: Node.Entry) -> String? {
        guard case .mapping(let inner) = entry.value.content, let first = inner.first else { return nil }
        return "write the path in one piece: \(entry.key).\(first.key)"
    }
}
