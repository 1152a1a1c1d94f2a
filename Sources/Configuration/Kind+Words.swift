extension Kind {
    /// What is expected, in words.
    var says: String {
        switch self {
        case .flag: "true or false"
        case .integer: "a whole number"
        case .number: "a number"
        case .duration(_, let orOff): "a duration such as 15s" + (orOff ? ", or off" : "")
        case .size: "a size such as 64KiB"
        case .choice(let words): "one of " + words.joined(separator: ", ")
        case .text(let rule): rule.says
        case .path, .secretFile: "a file's path"
        case .address(let orOff): "host:port" + (orOff ? ", or off" : "")
        case .speed: "1x, 20x or max"
        case .list: "a list of names"
        case .redis: "the address of a Redis, such as redis://host:6379"
        case .numbers: "a mapping of field paths to numbers"
        case .names(_, let values, let orOff):
            (values.map { "a mapping of field paths to " + $0.joined(separator: ", ") }
                ?? "a mapping of names to field paths")
                + (orOff ? ", or off" : "")
        case .texts: "a mapping of names to texts"
        case .schema: "a path or a JSON Schema"
        }
    }

    /// What a name, a default and a sentence do not already say; nil where they do.
    var note: String? {
        switch self {
        case .choice(let words) where words.count > 1: "One of \(words.joined(separator: ", "))."
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)."
        case .duration(let range, false) where range.lowerBound > 1:
            "\(Quantity.text(milliseconds: range.lowerBound)) to \(Quantity.text(milliseconds: range.upperBound))."
        default: nil
        }
    }

    var takesOff: Bool {
        switch self {
        case .number(_, let orOff), .duration(_, let orOff), .address(let orOff), .names(_, _, let orOff): orOff
        default: false
        }
    }

    /// Whether nothing means an empty collection.
    var takesEmpty: Bool {
        switch self {
        case .list, .numbers, .texts: true
        case .names(_, _, let orOff): !orOff
        default: false
        }
    }

    /// Whether `--set key.entry=value` sets one entry of it.
    var isMap: Bool {
        switch self {
        case .numbers, .names, .texts: true
        default: false
        }
    }
}

extension Declaration {
    /// The default as a value. That each can be read is a test's business.
    var standardValue: OptionValue? {
        guard let standard else { return nil }
        var reader = ValueReader()
        let value = reader.read(Node(flat: standard, for: kind), as: kind)
        precondition(reader.complaints.isEmpty, "the default of \(key) is refused: \(reader.complaints)")
        return value
    }
}

extension Kind {
    /// A value to show where there is no default.
    var example: String {
        switch self {
        case .flag: "true"
        case .integer(let range): String(range.lowerBound)
        case .number(let range, _): Quantity.text(number: range.lowerBound)
        case .duration: "5s"
        case .size: "64KiB"
        case .choice(let words): words[0]
        case .text(let rule): rule.example
        case .path: "path/to/file"
        case .secretFile: "path/to/secret"
        case .address: "127.0.0.1:9464"
        case .speed: "1x"
        case .list(let rule): "[\(rule.example)]"
        case .redis: "redis://localhost:6379"
        case .numbers: "{etaTimestamp: 60}"
        case .names(let keys, let values, _): "{\(keys?.first ?? "etaTimestamp"): \(values?.first ?? "field")}"
        case .texts: "{socket.keepalive.enable: true}"
        case .schema: "schemas/content-state.json"
        }
    }
}
