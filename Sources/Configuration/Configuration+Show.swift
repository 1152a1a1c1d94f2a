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

    private func line(_ declaration: Declaration, _ setting: Setting?) -> YamlWriter.Line? {
        guard let setting else { return nil }
        var origin = setting.origin.description
        if case .secretFile = declaration.kind { origin += ", its content is never shown" }
        return YamlWriter.Line(value: setting.value.yaml, isExample: false, above: nil, beside: origin)
    }
}
