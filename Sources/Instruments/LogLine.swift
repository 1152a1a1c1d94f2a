/// One line, ready to be rendered.
struct LogLine {
    let timeMilliseconds: Int64
    let level: LogLevel
    let component: String
    let message: String
    let fields: [LogField]
    let suppressed: Int

    /// The line with its line feed.
    func bytes(_ format: LogFormat) -> [UInt8] {
        var text = ""
        switch format {
        case .json: writeJSON(to: &text)
        case .text: writeText(to: &text)
        }
        text.append("\n")
        return Array(text.utf8)
    }

    private var allFields: [LogField] {
        suppressed > 0 ? fields + [LogField("suppressed", .integer(Int64(suppressed)))] : fields
    }

    private func writeJSON(to text: inout String) {
        text += "{\"time\":\"\(UTCTime(timeMilliseconds).description)\",\"level\":\"\(level.rawValue)\",\"message\":"
        JSONText.append(message, to: &text)
        text += ",\"component\":"
        JSONText.append(component, to: &text)
        for field in allFields {
            text += ","
            JSONText.append(field.key, to: &text)
            text += ":"
            switch field.value {
            case .text(let value): JSONText.append(value, to: &text)
            case .integer(let value): text += String(value)
            case .number(let value): text += JSONText.number(value)
            case .flag(let value): text += String(value)
            }
        }
        text += "}"
    }

    private func writeText(to text: inout String) {
        text += "\(UTCTime(timeMilliseconds).timeOfDay) \(level.rawValue) \(component): \(message)"
        for field in allFields {
            text += " \(field.key)="
            switch field.value {
            case .text(let value): appendQuotedWhereNeeded(value, to: &text)
            case .integer(let value): text += String(value)
            case .number(let value): text += "\(value)"
            case .flag(let value): text += String(value)
            }
        }
    }

    /// A value with a blank, a quote or a control character is quoted: no field can forge another or a second line.
    private func appendQuotedWhereNeeded(_ value: String, to text: inout String) {
        let isPlain =
            !value.isEmpty
            && value.unicodeScalars.allSatisfy {
                $0.value > 0x20 && $0 != "\"" && $0 != "=" && !(0x7F...0x9F).contains($0.value)
            }
        if isPlain { text += value } else { JSONText.append(value, to: &text) }
    }
}
