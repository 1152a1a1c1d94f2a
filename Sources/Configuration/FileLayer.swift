extension Merge {
    /// Takes over what stands in a file.
    mutating func take(file root: Node, path: String) {
        var walk = FileWalk(path: path, folder: Self.folder(of: path), merge: self)
        walk.visit(root, KeyTree.root, keys: [], subject: nil)
        self = walk.merge
    }

    /// `etc/waypulse` of `etc/waypulse/config.yaml`; nil where the file lies in the working directory.
    private static func folder(of path: String) -> String? {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) }
    }
}

/// One walk through the file's nodes and the tree of known keys, side by side.
private struct FileWalk {
    let path: String
    let folder: String?
    var merge: Merge

    mutating func visit(_ node: Node, _ tree: KeyTree, keys: [String], subject: String?) {
        switch tree {
        case .option(let declaration): option(node, declaration, keys, subject)
        case .section(let children):
            for entry in entries(node, keys) {
                guard let child = children.first(where: { $0.name == entry.key }) else {
                    unknown(entry, among: children.map(\.name), keys)
                    continue
                }
                visit(entry.value, child.tree, keys: keys + [entry.key], subject: subject)
            }
        case .each(let subjects, let tree):
            for entry in entries(node, keys) {
                if let problem = subjects.refuses(entry.key) {
                    fault(entry.keyMark, keys + [entry.key], problem, "choose another")
                    continue
                }
                merge.note(entry.key, subjects, .file(path: path, mark: entry.keyMark))
                visit(entry.value, tree, keys: keys + [entry.key], subject: entry.key)
            }
        }
    }

    private mutating func option(_ node: Node, _ declaration: Declaration, _ keys: [String], _ subject: String?) {
        var reader = ValueReader()
        let value = reader.read(node, as: declaration.kind)
        for complaint in reader.complaints {
            fault(complaint.mark, keys, below: complaint.below, complaint.problem, complaint.remedy)
        }
        guard let value, reader.complaints.isEmpty else { return }
        var written: String?
        if case .scalar(let text, _) = node.content, value.isScalar { written = text }
        let setting = Setting(
            resolved(value, declaration.kind), .file(path: path, mark: node.mark), written: written)
        merge.settings[SettingKey(declaration, below: subject)] = setting
    }

    /// A file's relative paths count from its own folder: it can be moved, and started from anywhere.
    private func resolved(_ value: OptionValue, _ kind: Kind) -> OptionValue {
        func absolute(_ text: String) -> String {
            guard let folder, !text.hasPrefix("/"), text != "-" else { return text }
            return folder == "/" ? "/" + text : folder + "/" + text
        }
        switch (kind, value) {
        case (.path, .text(let text)), (.secretFile, .text(let text)): return .text(absolute(text))
        case (.schema, .schema(.file(let text))): return .schema(.file(absolute(text)))
        default: return value
        }
    }

    private mutating func entries(_ node: Node, _ keys: [String]) -> [Node.Entry] {
        // A section whose lines are all commented out is empty, not wrong.
        if node.isNull { return [] }
        guard case .mapping(let entries) = node.content else {
            // The value is not quoted: what stands at a wrong place may be a secret.
            fault(
                node.mark, keys, "is \(node.isScalar ? "a single value" : node.says), expected a mapping",
                "write key: value lines below it")
            return []
        }
        return entries
    }

    private mutating func unknown(_ entry: Node.Entry, among names: [String], _ keys: [String]) {
        fault(entry.keyMark, keys + [entry.key], "unknown key", Merge.hint(entry.key, among: names, keys))
    }

    private mutating func fault(
        _ mark: Mark, _ keys: [String], below: String = "", _ problem: String, _ remedy: String?
    ) {
        merge.faults.append(
            ConfigurationFault(.file(path: path, mark: mark), key: keys.joined(separator: ".") + below, problem, remedy)
        )
    }
}
