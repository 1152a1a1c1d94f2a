import Telemetry

extension ByteBuffer {
    /// The same for a content-state, which is copied as it stands where nothing is to be done to it.
    mutating func append(_ state: ContentState, _ fields: FieldTree, shedCount: Int) throws(PayloadFault) {
        guard fields.asksForWork(shedCount: shedCount) else { return append(state) }
        try append(state.object, fields, shedCount: shedCount)
    }

    /// Writes the object with its dates converted and without the first `shedCount` of the fields that may be left out.
    mutating func append(_ object: JSONObject, _ fields: FieldTree, shedCount: Int) throws(PayloadFault) {
        guard !fields.isEmpty else { return append(object) }
        append(byte: UInt8(ascii: "{"))
        var isFirst = true
        for member in object.members {
            let field = fields.child(member.name)
            if let rank = field?.shedRank, rank < shedCount { continue }
            if !isFirst { append(byte: UInt8(ascii: ",")) }
            isFirst = false
            append(string: member.name)
            append(byte: UInt8(ascii: ":"))
            if let field {
                try append(member.value, field, named: member.name, shedCount: shedCount)
            } else {
                append(member.value)
            }
        }
        append(byte: UInt8(ascii: "}"))
    }

    private mutating func append(
        _ value: JSONValue, _ field: FieldTree, named name: String, shedCount: Int
    ) throws(PayloadFault) {
        switch value {
        case .object(let object) where field.date == nil:
            try append(object, field, shedCount: shedCount)
        case .array(let elements):
            append(byte: UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { append(byte: UInt8(ascii: ",")) }
                try append(element, field, named: name, shedCount: shedCount)
            }
            append(byte: UInt8(ascii: "]"))
        case .null:
            append(raw: "null")
        default:
            guard let format = field.date else { return append(value) }
            do throws(DateReading.Fault) {
                try DateReading(value).write(as: format, into: &self)
            } catch {
                throw .badDate(path: name, explanation: "\(name) \(error.problem)")
            }
        }
    }
}
