/// A configuration file's content and the name under which faults speak of it.
public struct ConfigurationFile: Sendable {
    public let path: String
    public let bytes: [UInt8]

    public init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
    }

    public init(path: String, text: String) { self.init(path: path, bytes: Array(text.utf8)) }
}

extension Configuration {
    /// Lays flags over the environment over the file over the defaults, and checks everything.
    ///
    /// - Parameters:
    ///   - environment: all variables; those that begin with `WAYPULSE_` count.
    ///   - flags: the arguments of `--set`, each `key=value`.
    /// - Throws: every fault there is, at once.
    public init(
        file: ConfigurationFile? = nil, environment: [String: String] = [:], flags: [String] = []
    ) throws(ConfigurationFaults) {
        var merge = Merge()
        if let file {
            let (root, faults) = YamlReader.read(file.bytes, path: file.path)
            merge.faults += faults
            if let root { merge.take(file: root, path: file.path) }
        }
        merge.take(environment: environment)
        merge.take(flags: flags)
        settings = merge.settings
        apps = merge.names(.apps)
        attributesTypes = merge.names(.attributesTypes)

        // A rule about a value that was refused would judge its default in its place; that is harmless, since the
        // defaults keep all rules and the value's own fault stands anyway.
        var faults = merge.faults + missing(merge)
        for fault in brokenRules() {
            if fault.isWarning { warnings.append(fault.fault) } else { faults.append(fault.fault) }
        }
        guard faults.isEmpty else { throw ConfigurationFaults(faults: faults) }
    }

    /// Reads the file at `path`, if any, and lays the process's environment and `flags` over it.
    public static func load(path: String?, flags: [String]) throws(ConfigurationFaults) -> Configuration {
        var file: ConfigurationFile?
        if let path {
            do throws(UnreadableFile) {
                file = ConfigurationFile(path: path, bytes: try FileBytes.read(path, maxBytes: YamlReader.maxBytes + 1))
            } catch {
                let origin = Origin.file(path: path, mark: Mark(line: 1, column: 1))
                throw ConfigurationFaults(faults: [
                    ConfigurationFault(
                        origin, key: "", "cannot be read: \(error.problem)", "check the path and its permissions")
                ])
            }
        }
        return try Configuration(file: file, environment: ProcessEnvironment.variables, flags: flags)
    }

    private func missing(_ merge: Merge) -> [ConfigurationFault] {
        let required = Options.all.filter { $0.scope == .app && $0.isRequired }
        return merge.subjects[.apps, default: []].flatMap { app in
            required.compactMap { declaration in
                let key = SettingKey(declaration, below: app.name)
                // One that was given and refused is not missing.
                guard settings[key] == nil, !merge.faults.contains(where: { $0.key == key.path }) else { return nil }
                return ConfigurationFault(
                    app.origin, key: key.path, "is missing",
                    "an app needs \(required.map(\.key).joined(separator: ", "))")
            }
        }
    }

    private func brokenRules() -> [(fault: ConfigurationFault, isWarning: Bool)] {
        let process = Rules.process.map { ($0, nil as String?) }
        let pacing = ([nil] + attributesTypes.map { $0 as String? }).flatMap { type in
            Rules.overridable.map { ($0, type) }
        }
        return (pacing + process).compactMap { rule, subject in
            rule.fault(self, below: subject).map { ($0, rule.isWarning) }
        }
    }
}
