extension Configuration {
    /// The merged result as YAML, each value with its origin. Secrets are named by their files, never shown.
    public var shown: String {
        var writer = YamlWriter()
        guard case .section(let sections) = KeyTree.root else { return "" }
        for case (let name, .each(let subjects, let tree)) in sections where subjects == .apps && !apps.isEmpty {
            writer.put("\(name):", 0, false)
            for app in apps {
                writer.put("\(app):", 1, false)
                writer.write(tree, depth: 2) { line($0, setting($0, below: app)) }
            }
            writer.text += "\n"
        }
        writer.write(KeyTree.root) { line($0, setting($0, below: nil)) }
        for case (let name, .each(let subjects, let tree)) in sections
        where subjects == .attributesTypes && !attributesTypes.isEmpty {
            writer.put("\(name):", 0, false)
            for type in attributesTypes {
                // Only what differs from the general settings: the rest would be said twice.
                let own = settings.keys.contains { $0.subject == type && $0.scope != .app }
                writer.put("\(type):\(own ? "" : " {}")", 1, false)
                writer.write(tree, depth: 2) { line($0, settings[SettingKey($0, below: type)]) }
            }
        }
        while writer.text.hasSuffix("\n\n") { writer.text.removeLast() }
        return writer.text
    }

    /// The same for machines: each option's full path to its value and origin.
    ///
    ///     {"pacing.deadbandMeters": {"value": 50, "origin": "--set pacing.deadbandMeters"}, …}
    public var shownAsJSON: String {
        var members: [(String, JSONDocument)] = []
        func add(_ declaration: Declaration, below subject: String?, _ setting: Setting?) {
            guard let setting else { return }
            let written = setting.value.isScalar ? setting.written : nil
            let value: [(String, JSONDocument)] = [
                ("value", setting.value.json(written: written)), ("origin", .string(setting.origin.description)),
            ]
            members.append((SettingKey(declaration, below: subject).path, .object(value)))
        }
        for declaration in Options.all {
            switch declaration.scope {
            case .app: for app in apps { add(declaration, below: app, setting(declaration, below: app)) }
            case .process: add(declaration, below: nil, setting(declaration, below: nil))
            case .overridable, .attributesType:
                if declaration.scope == .overridable { add(declaration, below: nil, setting(declaration, below: nil)) }
                for type in attributesTypes {
                    add(declaration, below: type, settings[SettingKey(declaration, below: type)])
                }
            }
        }
        return JSONDocument.object(members).text() + "\n"
    }

    private func line(_ declaration: Declaration, _ setting: Setting?) -> YamlWriter.Line? {
        guard let setting else { return nil }
        var origin = setting.origin.description
        if case .secretFile = declaration.kind { origin += ", its content is never shown" }
        return YamlWriter.Line(
            value: Self.asWritten(setting, declaration.kind), isExample: false, above: nil, beside: origin)
    }

    /// `180s` and not `3m` where somebody wrote so; free text is quoted where YAML needs it.
    private static func asWritten(_ setting: Setting, _ kind: Kind) -> String {
        switch (kind, setting.value) {
        case (.choice, _), (.address, _): setting.written
        case (_, .text), (_, .list), (_, .numbers), (_, .names), (_, .texts), (_, .schema): setting.value.yaml
        default: setting.written
        }
    }
}
