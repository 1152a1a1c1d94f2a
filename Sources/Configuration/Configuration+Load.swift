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

        var faults = merge.faults + incompleteApps(merge)
        for (fault, isWarning) in brokenRules(merge) {
            if isWarning { warnings.append(fault) } else { faults.append(fault) }
        }
        guard faults.isEmpty else { throw ConfigurationFaults(faults: ConfigurationFault.inReadingOrder(faults)) }
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

    private func incompleteApps(_ merge: Merge) -> [ConfigurationFault] {
        let required = Options.all.filter { $0.scope == .app && $0.isRequired }
        return merge.subjects[.apps, default: []].compactMap { app in
            let missing = required.filter { declaration in
                let key = SettingKey(declaration, below: app.name)
                return settings[key] == nil && !merge.hasRefused(key.path)
            }
            let path = "apps.\(app.name)"
            // Of an app that is no mapping at all, that has been said.
            guard !missing.isEmpty, !merge.faults.contains(where: { $0.key == path }) else { return nil }
            return ConfigurationFault(
                app.origin, key: path, "lacks \(missing.map(\.key).joined(separator: ", "))",
                "add what is missing")
        }
    }

    /// A rule that reads a value which was refused would judge the default in its place; it is left for the next try.
    private func brokenRules(_ merge: Merge) -> [(fault: ConfigurationFault, isWarning: Bool)] {
        let process = Rules.process.map { ($0, nil as String?) }
        let pacing = ([nil] + attributesTypes.map { $0 as String? }).flatMap { type in
            Rules.overridable.map { ($0, type) }
        }
        return (pacing + process).compactMap { rule, subject in
            let isJudgeable = rule.about.allSatisfy { declaration in
                [subject, nil].allSatisfy { !merge.hasRefused(SettingKey(declaration, below: $0).path) }
            }
            return isJudgeable ? rule.fault(self, below: subject).map { ($0, rule.isWarning) } : nil
        }
    }
}
