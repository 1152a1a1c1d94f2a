/// Writes the tree of options as YAML: commented defaults, or the merged result with origins.
struct YamlWriter {
    var text = ""

    /// One option's line, ready but for its key.
    struct Line {
        let value: String
        /// Commented out, as there is no value to show.
        let isExample: Bool
        let above: String?
        let beside: String?
    }

    /// - Parameter line: nil leaves the option out; a section of which nothing is left is left out too.
    mutating func write(
        _ tree: KeyTree, depth: Int = 0, isExample: Bool = false, _ line: (Declaration) -> Line?
    ) {
        guard case .section(let children) = tree else { return }
        for (name, child) in children {
            switch child {
            case .option(let declaration):
                guard let line = line(declaration) else { continue }
                put(name, line, depth, isExample)
            case .section:
                let before = self
                put("\(name):", depth, isExample)
                let start = text.utf8.count
                write(child, depth: depth + 1, isExample: isExample, line)
                if text.utf8.count == start { self = before }
            case .each: continue
            }
            if depth == 0, !text.isEmpty, !text.hasSuffix("\n\n") { text += "\n" }
        }
    }

    private mutating func put(_ name: String, _ line: Line, _ depth: Int, _ isExample: Bool) {
        if let above = line.above {
            for words in Self.wrapped(above, width: 116 - 2 * depth) { put("# \(words)", depth, isExample) }
        }
        put("\(name): \(line.value)\(line.beside.map { "  # \($0)" } ?? "")", depth, isExample || line.isExample)
    }

    /// A `#` in the first column comments a setting out; a comment for people has one blank after it.
    mutating func put(_ content: String, _ depth: Int, _ isExample: Bool) {
        text += (isExample ? "#" : "") + String(repeating: "  ", count: depth) + content + "\n"
    }

    private static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
