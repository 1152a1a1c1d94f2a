/// A configuration that was found valid: every option has a value of its kind, and every rule holds.
///
///     configuration[Options.pacing.minInterval, attributesType: "DeliveryAttributes"]   // milliseconds
///     configuration[Options.app.keyFile, app: "courier"]
public struct Configuration: Sendable {
    var settings: [SettingKey: Setting] = [:]
    /// The ids under `apps`, in order of appearance.
    public internal(set) var apps: [String] = []
    /// The names under `attributesTypes`, in order of appearance.
    public internal(set) var attributesTypes: [String] = []
    /// What is legal and probably not meant; to be shown at the start.
    public internal(set) var warnings: [ConfigurationFault] = []

    /// The app of events that name none: the only one there is.
    public var defaultApp: String? { apps.count == 1 ? apps[0] : nil }

    /// An option's value for the whole process.
    public subscript<Value>(option: Option<Value>) -> Value { value(option, below: nil) }

    /// An option's value for the activities of one type: the type's own setting, else the general one. A type that is
    /// not configured has the general one.
    public subscript<Value>(option: Option<Value>, attributesType name: String?) -> Value { value(option, below: name) }

    /// An option's value for one of `apps`.
    public subscript<Value>(option: Option<Value>, app id: String) -> Value { value(option, below: id) }

    private func value<Value>(_ option: Option<Value>, below subject: String?) -> Value {
        guard let value = option.read(setting(option.declaration, below: subject)?.value) else {
            preconditionFailure("\(option.declaration.key) has no value below \(subject ?? "the top level")")
        }
        return value
    }

    /// The most specific setting: flag, environment and file were merged before; one below a type counts before a general.
    func setting(_ declaration: Declaration, below subject: String?) -> Setting? {
        if let subject, let own = settings[SettingKey(declaration, below: subject)] { return own }
        return settings[SettingKey(declaration, below: nil)] ?? Setting(standardOf: declaration)
    }
}

/// Which option, and below which app or attributes type.
struct SettingKey: Hashable {
    let key: String
    let scope: Scope
    let subject: String?

    init(_ declaration: Declaration, below subject: String?) {
        key = declaration.key
        scope = declaration.scope
        self.subject = subject
    }

    /// The full path as it is written in flags.
    var path: String {
        switch (scope, subject) {
        case (.app, let subject?): "apps.\(subject).\(key)"
        case (_, let subject?): "attributesTypes.\(subject).\(key)"
        case (.app, nil): "apps.<id>.\(key)"
        case (.attributesType, nil): "attributesTypes.<Name>.\(key)"
        case (_, nil): key
        }
    }
}

/// A value with where it came from.
struct Setting: Sendable, Equatable {
    let value: OptionValue
    let origin: Origin
    /// The value as it was written, where that was one word.
    let written: String

    init(_ value: OptionValue, _ origin: Origin, written: String? = nil) {
        self.value = value
        self.origin = origin
        self.written = written ?? value.yaml
    }

    init?(standardOf declaration: Declaration) {
        guard let value = declaration.standardValue else { return nil }
        self.init(value, .standard, written: value.isScalar ? declaration.standard : nil)
    }
}
