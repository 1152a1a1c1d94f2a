/// Where an option may stand.
public enum Scope: Sendable {
    /// Once.
    case process
    /// Once, and again below `attributesTypes.<Name>` for the activities of that type.
    case overridable
    /// Only below `attributesTypes.<Name>`.
    case attributesType
    /// Only below `apps.<id>`.
    case app
}

/// One option, declared once: parser, defaults, schema, environment name and checks come from here.
public struct Declaration: Sendable, CustomStringConvertible {
    /// The path in the file, without the `attributesTypes.<Name>` or `apps.<id>` that its scope may put before it.
    public let key: String
    public let scope: Scope
    public let text: String
    let kind: Kind
    /// As one would write it after `--set key=`; nil where the option is unset unless somebody sets it.
    let standard: String?
    /// An app without it cannot be used.
    let isRequired: Bool

    /// The key's last part.
    var name: String { key.split(separator: ".").last.map(String.init) ?? key }
    /// What stands before it, with its dot.
    var section: String { String(key.dropLast(name.count)) }

    public var description: String { key }
}

/// A declaration with the type its value is read as, so that a misspelt key or a wrong type does not compile.
public struct Option<Value: Sendable>: Sendable, Declared {
    public let declaration: Declaration
    let read: @Sendable (OptionValue?) -> Value?

    init(
        _ key: String, _ kind: Kind, standard: String?, scope: Scope = .process, isRequired: Bool = false,
        _ text: String, read: @escaping @Sendable (OptionValue?) -> Value?
    ) {
        declaration = Declaration(
            key: key, scope: scope, text: text, kind: kind, standard: standard, isRequired: isRequired)
        self.read = read
    }
}

/// Options that stand within another group of them.
protocol OptionGroup {}

/// What the groups of options are searched for.
protocol Declared {
    var declaration: Declaration { get }
}
