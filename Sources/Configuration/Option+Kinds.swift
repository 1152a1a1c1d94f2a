// One constructor a type of value: it ties what is parsed to what is read.

extension Option where Value == Bool {
    static func flag(_ key: String, standard: Bool, scope: Scope = .process, _ text: String) -> Self {
        Self(key, .flag, standard: String(standard), scope: scope, text) {
            if case .flag(let value) = $0 { value } else { nil }
        }
    }
}

extension Option where Value == Int {
    static func integer(
        _ key: String, standard: Int, in range: ClosedRange<Int64>, scope: Scope = .process, _ text: String
    ) -> Self {
        Self(key, .integer(range), standard: String(standard), scope: scope, text) {
            if case .integer(let value) = $0 { Int(value) } else { nil }
        }
    }
}

extension Option where Value == Double {
    static func number(
        _ key: String, standard: String, in range: ClosedRange<Double>, scope: Scope = .process, _ text: String
    ) -> Self {
        Self(key, .number(range), standard: standard, scope: scope, text) {
            if case .number(let value) = $0 { value } else { nil }
        }
    }
}

extension Option where Value == Int64 {
    /// Read in milliseconds.
    static func duration(
        _ key: String, standard: String, in range: ClosedRange<Int64>, scope: Scope = .process, _ text: String
    ) -> Self {
        Self(key, .duration(range), standard: standard, scope: scope, text) {
            if case .milliseconds(let value) = $0 { value } else { nil }
        }
    }

    /// Read in bytes.
    static func size(
        _ key: String, standard: String, in range: ClosedRange<Int64>, scope: Scope = .process, _ text: String
    ) -> Self {
        Self(key, .size(range), standard: standard, scope: scope, text) {
            if case .bytes(let value) = $0 { value } else { nil }
        }
    }
}

extension Option where Value == Int64? {
    /// Read in milliseconds; nil where nobody set it.
    static func optionalDuration(
        _ key: String, in range: ClosedRange<Int64>, scope: Scope = .process, _ text: String
    ) -> Self {
        Self(key, .duration(range), standard: nil, scope: scope, text) {
            if case .milliseconds(let value) = $0 { .some(value) } else { .some(nil) }
        }
    }

    /// Read in milliseconds; nil is `off`.
    static func durationOrOff(
        _ key: String, standard: String, in range: ClosedRange<Int64>, scope: Scope = .process, _ text: String
    ) -> Self {
        Self(key, .duration(range, orOff: true), standard: standard, scope: scope, text) {
            switch $0 {
            case .milliseconds(let value): .some(value)
            case .off: .some(nil)
            default: nil
            }
        }
    }
}

extension Option where Value == String {
    static func choice(
        _ key: String, standard: String, of words: [String], scope: Scope = .process, _ text: String
    ) -> Self {
        Self(key, .choice(words), standard: standard, scope: scope, text) {
            if case .text(let value) = $0 { value } else { nil }
        }
    }

    static func text(_ key: String, standard: String, _ rule: TextRule = .any, scope: Scope, _ text: String) -> Self {
        Self(key, .text(rule), standard: standard, scope: scope, text) {
            if case .text(let value) = $0 { value } else { nil }
        }
    }

    /// A text without which its app cannot be used; empty where none is set.
    static func required(_ key: String, _ kind: Kind, scope: Scope, _ text: String) -> Self {
        Self(key, kind, standard: nil, scope: scope, isRequired: true, text) {
            if case .text(let value) = $0 { value } else { nil }
        }
    }
}

extension Option where Value == String? {
    static func optional(_ key: String, _ kind: Kind, scope: Scope = .process, _ text: String) -> Self {
        Self(key, kind, standard: nil, scope: scope, text) {
            if case .text(let value) = $0 { .some(value) } else { .some(nil) }
        }
    }
}

extension Option where Value == Address? {
    /// nil is `off`.
    static func addressOrOff(_ key: String, standard: String, _ text: String) -> Self {
        Self(key, .address(orOff: true), standard: standard, text) {
            switch $0 {
            case .text(let value): .some(Address(parsing: value))
            default: .some(nil)
            }
        }
    }
}

extension Option where Value == RedisURL? {
    static func redis(_ key: String, _ text: String) -> Self {
        Self(key, .redis, standard: nil, text) {
            if case .text(let value) = $0 { .some(try? RedisURL(parsing: value)) } else { .some(nil) }
        }
    }
}

extension Option where Value == Int? {
    /// nil where nobody set it.
    static func optional(
        _ key: String, in range: ClosedRange<Int64>, scope: Scope = .process, _ text: String
    ) -> Self {
        Self(key, .integer(range), standard: nil, scope: scope, text) {
            if case .integer(let value) = $0 { .some(Int(value)) } else { .some(nil) }
        }
    }
}

extension Option where Value == Double? {
    /// A factor of the recording's clock; nil is `max`.
    static func speed(_ key: String, standard: String, _ text: String) -> Self {
        Self(key, .speed, standard: standard, text) {
            switch $0 {
            case .number(let value): .some(value)
            case .off: .some(nil)
            default: nil
            }
        }
    }
}

extension Option where Value == [String] {
    static func list(
        _ key: String, standard: String, of rule: TextRule = .fieldPath, scope: Scope, _ text: String
    ) -> Self {
        Self(key, .list(of: rule), standard: standard, scope: scope, text) {
            if case .list(let value) = $0 { value } else { nil }
        }
    }
}

extension Option where Value == [String: Double] {
    static func numbers(
        _ key: String, standard: String, each range: ClosedRange<Double>, scope: Scope, _ text: String
    ) -> Self {
        Self(key, .numbers(each: range), standard: standard, scope: scope, text) {
            if case .numbers(let value) = $0 { value } else { nil }
        }
    }
}

extension Option where Value == [String: String] {
    static func names(_ key: String, values: [String], scope: Scope, _ text: String) -> Self {
        Self(key, .names(keys: nil, values: values, orOff: false), standard: "", scope: scope, text) {
            if case .names(let value) = $0 { value } else { nil }
        }
    }
}

extension Option where Value == [String: String] {
    /// Texts by name, both as they are written.
    static func texts(_ key: String, _ text: String) -> Self {
        Self(key, .texts, standard: "", scope: .process, text) {
            if case .texts(let value) = $0 { value } else { nil }
        }
    }
}

extension Option where Value == [String: String]? {
    /// nil is `off`.
    static func namesOrOff(_ key: String, standard: String, keys: [String], scope: Scope, _ text: String) -> Self {
        Self(key, .names(keys: keys, values: nil, orOff: true), standard: standard, scope: scope, text) {
            switch $0 {
            case .names(let value): .some(value)
            case .off: .some(nil)
            default: nil
            }
        }
    }
}

extension Option where Value == SchemaSource? {
    static func schema(_ key: String, _ text: String) -> Self {
        Self(key, .schema, standard: nil, scope: .attributesType, text) {
            if case .schema(let value) = $0 { .some(value) } else { .some(nil) }
        }
    }
}
