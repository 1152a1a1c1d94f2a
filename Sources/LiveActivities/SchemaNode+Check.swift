import Telemetry

extension SchemaNode {
    func mismatch(of value: JSONValue, asksSupplied: Bool) -> SchemaMismatch? {
        var found = Found()
        _ = fits(value, asksSupplied: asksSupplied, &found)
        guard let problem = found.problem else { return nil }
        return SchemaMismatch(path: FieldPath(names: found.namesInwards.reversed()), problem: problem)
    }

    /// The first mismatch. Names are added on the way back out, so a value that fits costs no path.
    private struct Found {
        var problem: String?
        var namesInwards: [String] = []

        mutating func refuse(_ text: String) -> Bool {
            problem = text
            return false
        }

        mutating func refused(at name: String) -> Bool {
            namesInwards.append(name)
            return false
        }
    }

    private func fits(_ value: JSONValue, asksSupplied: Bool, _ found: inout Found) -> Bool {
        if let date, !value.isArray, !(value.isNull && (types?.contains(.null) ?? true)) {
            return fitsDate(value, date, &found)
        }
        return fitsRules(value, asksSupplied: asksSupplied, &found)
    }

    private func fitsRules(_ value: JSONValue, asksSupplied: Bool, _ found: inout Found) -> Bool {
        if let types, !SchemaNode.accepts(types, value) {
            if types == .integer, case .number(let number) = value {
                return found.refuse("must be integer (within 64 bits), but is \(number.text)")
            }
            return found.refuse("must be \(types.description), but is \(value.kindName)")
        }
        if let allowed, !allowed.contains(value) {
            return found.refuse("is none of the values that the schema allows")
        }
        switch value {
        case .object(let object): return fitsObject(object, asksSupplied: asksSupplied, &found)
        case .array(let elements): return fitsArray(elements, asksSupplied: asksSupplied, &found)
        case .number(let number): return fitsNumber(number, &found)
        case .string(let text): return fitsString(text, &found)
        case .null, .bool: return true
        }
    }

    private static func accepts(_ types: SchemaTypes, _ value: JSONValue) -> Bool {
        switch value {
        case .null: types.contains(.null)
        case .bool: types.contains(.boolean)
        case .string: types.contains(.string)
        case .array: types.contains(.array)
        case .object: types.contains(.object)
        case .number(let number):
            // 1.0 is an integer to JSON Schema and to Swift's decoder; 2^63 is one to the former alone.
            types.contains(.number)
                || (types.contains(.integer) && number.double == number.double.rounded()
                    && number.double >= -9_223_372_036_854_775_808 && number.double < 9_223_372_036_854_775_808)
        }
    }

    private func fitsObject(_ object: JSONObject, asksSupplied: Bool, _ found: inout Found) -> Bool {
        for requirement in required where asksSupplied || !requirement.isSupplied {
            if object[requirement.name] == nil {
                _ = found.refuse("is required, but absent")
                return found.refused(at: requirement.name)
            }
        }
        for member in object.members {
            let isFit: Bool
            if let index = propertyIndex(member.name) {
                isFit = properties[index].node.fits(member.value, asksSupplied: asksSupplied, &found)
            } else if !additional.isEmpty {
                isFit = additional[0].fits(member.value, asksSupplied: asksSupplied, &found)
            } else {
                isFit = !isClosed || found.refuse("is not among the properties that the schema allows")
            }
            guard isFit else { return found.refused(at: member.name) }
        }
        return true
    }

    private func fitsArray(_ elements: [JSONValue], asksSupplied: Bool, _ found: inout Found) -> Bool {
        if elements.count < minItems {
            return found.refuse("must have at least \(minItems) elements, but has \(elements.count)")
        }
        if elements.count > maxItems {
            return found.refuse("must have at most \(maxItems) elements, but has \(elements.count)")
        }
        guard !items.isEmpty else { return true }
        for (index, element) in elements.enumerated() {
            guard items[0].fits(element, asksSupplied: asksSupplied, &found) else {
                return found.refused(at: String(index))
            }
        }
        return true
    }

    private func fitsNumber(_ number: JSONNumber, _ found: inout Found) -> Bool {
        if let minimum, number.double < minimum.double {
            return found.refuse("must be at least \(minimum.text), but is \(number.text)")
        }
        if let maximum, number.double > maximum.double {
            return found.refuse("must be at most \(maximum.text), but is \(number.text)")
        }
        return true
    }

    private func fitsString(_ text: String, _ found: inout Found) -> Bool {
        if minLength > 0 || maxLength < Int.max {
            // JSON Schema counts code points.
            let count = text.unicodeScalars.count
            if count < minLength {
                return found.refuse("must have at least \(minLength) characters, but has \(count)")
            }
            if count > maxLength {
                return found.refuse("must have at most \(maxLength) characters, but has \(count)")
            }
        }
        if isDateTime, RFC3339.milliseconds(text) == nil {
            return found.refuse("must be a date-time of RFC 3339 such as 2026-11-29T12:00:00Z")
        }
        if isFullDate, !RFC3339.isFullDate(text) {
            return found.refuse("must be a date such as 2026-11-29")
        }
        return true
    }

    /// The schema may describe what producers give or what the phone gets: a date fits if either form does.
    private func fitsDate(_ value: JSONValue, _ format: DateFormat, _ found: inout Found) -> Bool {
        let written: JSONValue
        do throws(DateReading.Fault) {
            written = try DateReading(value).written(as: format)
        } catch {
            return found.refuse(error.problem)
        }
        if isDateTime || isFullDate { return true }
        var foundInWritten = Found()
        return fitsRules(written, asksSupplied: true, &foundInWritten) || fitsRules(value, asksSupplied: true, &found)
    }
}

extension JSONValue {
    var isArray: Bool { if case .array = self { true } else { false } }

    var isNull: Bool { if case .null = self { true } else { false } }

    /// As JSON Schema names it.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "boolean"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}
