extension Configuration {
    /// A complete file: each option with its text and default, what has none as an example that is commented out.
    public static var defaults: String {
        var writer = YamlWriter()
        writer.put(
            "# Waypulse's options with their defaults. Remove what you do not change; an unknown key is an error.", 0,
            false)
        writer.put(
            "# Each can be set as WAYPULSE_PACING_DEADBAND_METERS=50 or --set pacing.deadbandMeters=50;", 0, false)
        writer.put(
            "# a flag counts before the environment, that before this file, this file before the defaults.\n", 0, false)
        guard case .section(let sections) = KeyTree.root else { return writer.text }
        for case (let name, .each(let subjects, let tree)) in sections where subjects == .apps {
            writer.put("# The applications that pushes are sent to, by the id that events name them with.", 0, false)
            writer.example(name, subject: "courier", tree) { $0.scope == .app ? line($0) : nil }
        }
        writer.write(KeyTree.root) { line($0) }
        for case (let name, .each(let subjects, let tree)) in sections where subjects == .attributesTypes {
            writer.put(
                "# What is known about each ActivityAttributes type. All of pacing can be set here again for one type.",
                0, false)
            writer.example(name, subject: "DeliveryAttributes", tree) { declaration in
                declaration.scope == .attributesType || declaration.key == Options.pacing.deadbandMeters.declaration.key
                    ? line(declaration) : nil
            }
        }
        while writer.text.hasSuffix("\n\n") { writer.text.removeLast() }
        return writer.text
    }

    private static func line(_ declaration: Declaration) -> YamlWriter.Line {
        let setting = Setting(standardOf: declaration)
        let value = setting.map { $0.value.isScalar ? $0.written : $0.value.yaml }
        let isEmpty = value == "[]" || value == "{}"
        return YamlWriter.Line(
            value: isEmpty ? declaration.kind.example : value ?? declaration.kind.example,
            isExample: value == nil || isEmpty,
            above: [declaration.text, declaration.kind.note].compactMap { $0 }.joined(separator: " "), beside: nil)
    }
}

extension YamlWriter {
    fileprivate mutating func example(_ name: String, subject: String, _ tree: KeyTree, _ line: (Declaration) -> Line?)
    {
        put("\(name):", 0, true)
        put("\(subject):", 1, true)
        write(tree, depth: 2, isExample: true, line)
        text += "\n"
    }
}
