extension Merge {
    /// Takes over `key=value` arguments of `--set`, in order; a later one wins.
    mutating func take(flags: [String]) {
        for flag in flags {
            guard let equals = flag.firstIndex(of: "=") else {
                let key = trimmed(flag)
                faults.append(ConfigurationFault(.flag(key: key), key: "", "has no value", "write --set \(key)=value"))
                continue
            }
            take(trimmed(flag[..<equals]), trimmed(flag[flag.index(after: equals)...]))
        }
    }

    private mutating func take(_ path: String, _ text: String) {
        let origin = Origin.flag(key: path)
        guard let target = FlagTarget(path) else {
            faults.append(ConfigurationFault(origin, key: "", "unknown key", FlagTarget.hint(path)))
            return
        }
        if let (subjects, name) = target.subject {
            if let problem = subjects.refuses(name) {
                faults.append(ConfigurationFault(origin, key: "", "\"\(name)\" \(problem)", "choose another"))
                return
            }
            note(name, subjects, origin)
        }
        let key = SettingKey(target.declaration, below: target.subject?.name)
        guard let entry = target.entry else { return take(text, key, target.declaration, origin) }
        take(text, asEntry: entry, of: key, target.declaration, origin)
    }

    /// `--set pacing.tolerances.etaTimestamp=30` changes one entry of what the layers below have set.
    private mutating func take(
        _ text: String, asEntry entry: String, of key: SettingKey, _ declaration: Declaration, _ origin: Origin
    ) {
        let nowhere = Mark(line: 0, column: 0)
        let value = Node(content: .scalar(text, isPlain: true), mark: nowhere)
        let node = Node(content: .mapping([Node.Entry(key: entry, keyMark: nowhere, value: value)]), mark: nowhere)
        var reader = ValueReader()
        let read = reader.read(node, as: declaration.kind)
        note(reader.complaints, key.path, origin)
        guard let read, reader.complaints.isEmpty else { return }
        let below =
            settings[key] ?? settings[SettingKey(declaration, below: nil)] ?? Setting(standardOf: declaration)
        switch (below?.value, read) {
        case (.numbers(let old), .numbers(let new)):
            settings[key] = Setting(.numbers(old.merging(new) { $1 }), origin)
        case (.names(let old), .names(let new)):
            settings[key] = Setting(.names(old.merging(new) { $1 }), origin)
        case (.texts(let old), .texts(let new)):
            settings[key] = Setting(.texts(old.merging(new) { $1 }), origin)
        default: settings[key] = Setting(read, origin)
        }
    }
}

/// What a dotted path leads to.
struct FlagTarget {
    let declaration: Declaration
    let subject: (subjects: KeyTree.Subject, name: String)?
    /// The rest of the path, where the option is a map.
    let entry: String?

    init?(_ path: String) {
        var tree = KeyTree.root
        var rest = path.split(separator: ".", omittingEmptySubsequences: false)[...]
        var subject: (KeyTree.Subject, String)?
        while true {
            switch tree {
            case .option(let declaration):
                guard rest.isEmpty || declaration.kind.isMap else { return nil }
                self.declaration = declaration
                self.subject = subject
                entry = rest.isEmpty ? nil : rest.joined(separator: ".")
                return
            case .section(let children):
                guard let name = rest.popFirst(), let child = children.first(where: { $0.name == name }) else {
                    return nil
                }
                tree = child.tree
            case .each(let subjects, let child):
                guard let name = rest.popFirst() else { return nil }
                subject = (subjects, String(name))
                tree = child
            }
        }
    }

    /// The full path that somebody probably meant.
    static func hint(_ path: String) -> String? {
        var parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        var prefix = ""
        var scopes: Set<Scope> = [.process, .overridable]
        if parts.count > 2, let subject = KeyTree.Subject(rawValue: parts[0]) {
            prefix = "\(parts[0]).\(parts[1])."
            parts.removeFirst(2)
            scopes = subject == .apps ? [.app] : [.overridable, .attributesType]
        }
        let options = Options.all.filter { scopes.contains($0.scope) }
        let keys = options.map(\.key)
        let key = parts.joined(separator: ".")
        if keys.contains(where: { $0.hasPrefix(key + ".") }) { return "name an option below it" }
        if let same = keys.first(where: { asciiLowercased($0) == asciiLowercased(key) }) {
            return "upper and lower case count, write \(prefix)\(same)"
        }
        let paths = options.map { (section: $0.section, name: $0.name) }
        if let nearest = NearestMatch.of(key, inSections: paths) { return "did you mean \(prefix)\(nearest)?" }
        let elsewhere = keys.first { $0.hasSuffix("." + key) }
        return elsewhere.map { "did you mean \(prefix)\($0)?" }
    }
}
