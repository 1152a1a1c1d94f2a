extension Merge {
    /// Variables that begin like options and are none: the command line reads them itself.
    static let reservedVariables: Set<String> = ["WAYPULSE_CONFIG"]

    /// Takes over all variables that begin with `WAYPULSE_`; one that means nothing is a fault, like a key in the file.
    mutating func take(environment: [String: String]) {
        let ours = environment.filter { $0.key.hasPrefix("WAYPULSE_") && !Self.reservedVariables.contains($0.key) }
        for (variable, text) in ours.sorted(by: { $0.key < $1.key }) {
            if let declaration = VariableName.general[variable] {
                take(text, SettingKey(declaration, below: nil), declaration, .environment(variable: variable))
            } else if !takeBelowSubject(variable, text) {
                let known = VariableName.general.values.map { declaration in
                    (section: VariableName.of(declaration.section), name: VariableName.shouted(declaration.name))
                }
                let remedy = NearestMatch.of(variable, inSections: known.sorted(by: <)).map { "did you mean \($0)?" }
                faults.append(
                    ConfigurationFault(
                        .environment(variable: variable), key: "", "unknown variable", remedy ?? "unset it"))
            }
        }
    }

    /// `WAYPULSE_APPS_COURIER_KEY_FILE`: the option is the longest that the name ends in, the app what is left. Letters'
    /// case is lost in a variable, so a name that nobody spelled out elsewhere is taken in small letters, or refused
    /// where small letters cannot be right.
    private mutating func takeBelowSubject(_ variable: String, _ text: String) -> Bool {
        for subjects in KeyTree.Subject.allCases {
            let prefix = VariableName.of(subjects.rawValue) + "_"
            guard variable.hasPrefix(prefix) else { continue }
            let rest = variable.dropFirst(prefix.count)
            let candidates = VariableName.below(subjects).filter { rest.hasSuffix("_" + $0.suffix) }
            guard let (suffix, declaration) = candidates.max(by: { $0.suffix.count < $1.suffix.count }) else {
                return false
            }
            let shouted = String(rest.dropLast(suffix.count + 1))
            let origin = Origin.environment(variable: variable)
            let known = names(subjects).filter { VariableName.shouted($0) == shouted }
            guard known.count == 1 || (known.isEmpty && subjects == .apps && !shouted.isEmpty) else {
                let problem =
                    known.isEmpty
                    ? "names no attributes type of the file" : "could mean \(known.joined(separator: " or "))"
                faults.append(ConfigurationFault(origin, key: "", problem, "set it in the file, or with --set"))
                return true
            }
            let name = known.first ?? asciiLowercased(shouted)
            note(name, subjects, origin)
            take(text, SettingKey(declaration, below: name), declaration, origin)
            return true
        }
        return false
    }
}

/// How options are called in the environment.
enum VariableName {
    /// `WAYPULSE_PACING_DEADBAND_METERS` for `pacing.deadbandMeters`.
    static func of(_ key: String) -> String { "WAYPULSE_" + shouted(key) }

    /// `DEADBAND_METERS` for `deadbandMeters`.
    static func shouted(_ key: String) -> String {
        var name: [UInt8] = []
        var previous: UInt8?
        for byte in key.utf8 {
            let isCapital = (0x41...0x5A).contains(byte)
            let followsSmall = previous.map { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) } ?? false
            if isCapital, followsSmall { name.append(UInt8(ascii: "_")) }
            let isSmall = (0x61...0x7A).contains(byte)
            name.append(isSmall ? byte - 32 : TextRule.isLetterOrDigit(byte) ? byte : UInt8(ascii: "_"))
            previous = byte
        }
        return String(decoding: name, as: UTF8.self)
    }

    static let general: [String: Declaration] = Dictionary(
        uniqueKeysWithValues: Options.all
            .filter { $0.scope == .process || $0.scope == .overridable }
            .map { (of($0.key), $0) })

    static func below(_ subjects: KeyTree.Subject) -> [(suffix: String, declaration: Declaration)] {
        let scopes: Set<Scope> = subjects == .apps ? [.app] : [.overridable, .attributesType]
        return Options.all.filter { scopes.contains($0.scope) }.map { (shouted($0.key), $0) }
    }
}
