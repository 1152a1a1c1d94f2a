/// A value as it was written, before anybody knows what it should be.
struct Node: Sendable, Equatable {
    let content: Content
    let mark: Mark

    enum Content: Sendable, Equatable {
        /// Text, and whether it stood without quotes.
        case scalar(String, isPlain: Bool)
        case sequence([Node])
        case mapping([Entry])
    }

    struct Entry: Sendable, Equatable {
        let key: String
        let keyMark: Mark
        let value: Node
    }

    /// What a person would call it.
    var says: String {
        switch content {
        case .scalar(let text, let isPlain): isPlain && Node.nulls.contains(text) ? "nothing" : "\"\(text)\""
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }

    var isNull: Bool {
        if case .scalar(let text, isPlain: true) = content { Node.nulls.contains(text) } else { false }
    }

    private static let nulls: Set<String> = ["", "~", "null", "Null", "NULL"]
}

extension Node {
    /// A value from a flag or the environment, in the shape that its kind asks for: `a,b` for lists, `a=1,b=2` for maps.
    init(flat text: String, for kind: Kind) {
        let nowhere = Mark(line: 0, column: 0)
        func scalar(_ text: some StringProtocol) -> Node {
            Node(content: .scalar(String(text), isPlain: true), mark: nowhere)
        }
        let parts = text.split(separator: ",").map(trimmed).filter { !$0.isEmpty }
        switch kind {
        case .list:
            self = Node(content: .sequence(parts.map { scalar($0) }), mark: nowhere)
        case .numbers, .names, .texts:
            // Without "=" it is one word, such as off.
            guard text.isEmpty || text.contains("=") else {
                self = scalar(text)
                return
            }
            let entries = parts.map { part in
                let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return Entry(
                    key: trimmed(halves[0]), keyMark: nowhere,
                    value: scalar(halves.count == 2 ? trimmed(halves[1]) : ""))
            }
            self = Node(content: .mapping(entries), mark: nowhere)
        default:
            self = scalar(text)
        }
    }
}

/// Without blanks and tabs at either end.
func trimmed(_ text: some StringProtocol) -> String {
    var rest = Substring(text)
    while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
    while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
    return String(rest)
}
