/// The layers laid over each other, lowest first, with everything that was found wrong on the way.
struct Merge {
    var settings: [SettingKey: Setting] = [:]
    var faults: [ConfigurationFault] = []
    private(set) var subjects: [KeyTree.Subject: [(name: String, origin: Origin)]] = [:]

    /// Remembers an app or attributes type at its first mention.
    mutating func note(_ name: String, _ kind: KeyTree.Subject, _ origin: Origin) {
        guard !subjects[kind, default: []].contains(where: { $0.name == name }) else { return }
        subjects[kind, default: []].append((name, origin))
    }

    func names(_ kind: KeyTree.Subject) -> [String] { subjects[kind, default: []].map(\.name) }

    /// Takes over one value that stands in a flag or an environment variable.
    mutating func take(_ text: String, _ key: SettingKey, _ declaration: Declaration, _ origin: Origin) {
        var reader = ValueReader()
        let value = reader.read(Node(flat: text, for: declaration.kind), as: declaration.kind)
        note(reader.complaints, key.path, origin)
        guard let value, reader.complaints.isEmpty else { return }
        settings[key] = Setting(value, origin, written: value.isScalar ? text : nil)
    }

    mutating func note(_ complaints: [ValueReader.Complaint], _ path: String, _ origin: Origin) {
        for complaint in complaints {
            // A flag's origin names the key already, and a variable's is as good as one.
            faults.append(ConfigurationFault(origin, key: path + complaint.below, complaint.problem, complaint.remedy))
        }
    }

    /// Whether the option at `path`, or an entry of it, was given and refused.
    func hasRefused(_ path: String) -> Bool {
        faults.contains { $0.key == path || $0.key.hasPrefix(path + ".") }
    }

    /// What to do about an unknown key, from the most to the least certain guess.
    static func hint(_ key: String, among names: [String], _ keys: [String]) -> String? {
        if let same = names.first(where: { asciiLowercased($0) == asciiLowercased(key) }) {
            return "upper and lower case count, write \(same)"
        }
        let prefix = keys.isEmpty ? "" : keys.joined(separator: ".") + "."
        let paths = Options.all.filter { $0.scope == .process || $0.scope == .overridable }.map(\.key)
        if key.contains("."), paths.contains(where: { $0 == prefix + key || $0 == key }) {
            let parts = key.split(separator: ".")
            return "write \(parts[0]): and \(parts.dropFirst().joined(separator: ".")): below it"
        }
        if let nearest = NearestMatch.of(key, in: names) { return "did you mean \(nearest)?" }
        if let elsewhere = paths.first(where: { $0.hasSuffix("." + key) }) { return "did you mean \(elsewhere)?" }
        return names.count <= 12 ? "known here: \(names.joined(separator: ", "))" : nil
    }
}

extension Node {
    var isScalar: Bool {
        if case .scalar = content { true } else { false }
    }
}
