/// The members of an event as the checks read them: each question answers with the value, nil where it is absent or null, or the
/// fault of a wrong type.
struct EventFields {
    /// Longest id in bytes of UTF-8, for activities, subjects and events.
    static let maximumIdentifierBytes = 128

    let object: JSONObject
    /// What stands before the names in faults, for example `alert.`.
    var prefix = ""

    func present(_ name: String) -> JSONValue? {
        if case .null? = object[name] { return nil }
        return object[name]
    }

    func string(_ name: String) throws(EventFault) -> String? {
        guard let value = present(name) else { return nil }
        guard case .string(let string) = value else { throw wrongType(name, value, wanted: "a string") }
        return string
    }

    /// A string that says something: an empty one is out of range.
    func nonEmptyString(_ name: String) throws(EventFault) -> String? {
        guard let string = try string(name) else { return nil }
        guard !string.isEmpty else {
            throw outOfRange(name, "is empty; leave it out or give it a value")
        }
        return string
    }

    func number(_ name: String) throws(EventFault) -> JSONNumber? {
        guard let value = present(name) else { return nil }
        guard case .number(let number) = value else { throw wrongType(name, value, wanted: "a number") }
        return number
    }

    func bool(_ name: String) throws(EventFault) -> Bool? {
        guard let value = present(name) else { return nil }
        guard case .bool(let bool) = value else { throw wrongType(name, value, wanted: "true or false") }
        return bool
    }

    func object(_ name: String) throws(EventFault) -> JSONObject? {
        guard let value = present(name) else { return nil }
        guard case .object(let object) = value else { throw wrongType(name, value, wanted: "an object") }
        return object
    }

    /// 1–128 bytes.
    func identifier(_ name: String) throws(EventFault) -> String? {
        guard let string = try string(name) else { return nil }
        guard 1...EventFields.maximumIdentifierBytes ~= string.utf8.count else {
            throw outOfRange(
                name, "has \(string.utf8.count) bytes; an id has 1 to \(EventFields.maximumIdentifierBytes)")
        }
        return string
    }

    // Faults

    func missing(_ name: String, _ remedy: String) -> EventFault {
        EventFault(.missingField(prefix + name), "The field \"\(prefix)\(name)\" is missing; \(remedy).")
    }

    func wrongType(_ name: String, _ found: JSONValue, wanted: String) -> EventFault {
        EventFault(
            .wrongType(prefix + name),
            "The field \"\(prefix)\(name)\" is \(EventFields.nameOfType(found)); publish \(wanted).")
    }

    /// - Parameter problem: goes on after the name of the field.
    func outOfRange(_ name: String, _ problem: String) -> EventFault {
        EventFault(.outOfRange(prefix + name), "The field \"\(prefix)\(name)\" \(problem).")
    }

    static func nameOfType(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
