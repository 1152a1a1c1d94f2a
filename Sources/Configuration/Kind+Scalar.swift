extension Kind {
    /// A single word as a value of this kind.
    ///
    /// - Parameter isPlain: false where it stood in quotes, which makes it text and no number.
    func value(of text: String, isPlain: Bool) throws(Refusal) -> OptionValue {
        if takesOff && text == "off" { return .off }
        switch self {
        case .flag: return .flag(try Self.flag(text, isPlain: isPlain))
        case .integer(let range): return .integer(try Self.integer(text, isPlain: isPlain, range))
        case .number(let range, _): return .number(try Self.number(text, isPlain: isPlain, range))
        case .duration(let range, let orOff): return .milliseconds(try Self.duration(text, range, orOff: orOff))
        case .size(let range): return .bytes(try Self.size(text, range))
        case .choice(let words): return .text(try Self.word(text, of: words))
        case .text(let rule):
            guard rule.accepts(text) else { throw Refusal(problem: "\"\(text)\" is not \(rule.says)", remedy: nil) }
            return .text(text)
        case .path:
            guard !text.isEmpty, !text.utf8.contains(0) else {
                throw Refusal(problem: "is not a path", remedy: "write a file's path")
            }
            return .text(text)
        case .secretFile: return .text(try Self.secretFile(text))
        case .address:
            guard Address(parsing: text) != nil else {
                let remedy = "write for instance 127.0.0.1:9464" + (takesOff ? ", or off" : "")
                throw Refusal(problem: "\"\(text)\" is not host:port", remedy: remedy)
            }
            return .text(text)
        case .redis:
            _ = try RedisURL(parsing: text)
            return .text(text)
        case .speed: return try Self.speed(text)
        case .list, .numbers, .names, .texts, .schema: preconditionFailure("\(says) is no single word")
        }
    }

    private static func flag(_ text: String, isPlain: Bool) throws(Refusal) -> Bool {
        if isPlain, let value = Bool(text) { return value }
        // YAML 1.1 took yes and no for truth values, YAML 1.2 does not; to guess which one somebody learned is no service.
        let remedy: String? =
            switch asciiLowercased(text) {
            case "true", "yes", "on", "y", "1": "write true" + (isPlain ? "" : " without quotes")
            case "false", "no", "off", "n", "0": "write false" + (isPlain ? "" : " without quotes")
            default: nil
            }
        throw Refusal(problem: "\"\(text)\" is not true or false", remedy: remedy)
    }

    private static func integer(_ text: String, isPlain: Bool, _ range: ClosedRange<Int64>) throws(Refusal) -> Int64 {
        guard isPlain, let value = Int64(text) else {
            throw Refusal(
                problem: "\"\(text)\" is not a whole number", remedy: isPlain ? nil : "write it without quotes")
        }
        return try check(value, range, written: text) { String($0) }
    }

    static func number(_ text: String, isPlain: Bool, _ range: ClosedRange<Double>) throws(Refusal) -> Double {
        guard isPlain else {
            throw Refusal(problem: "\"\(text)\" is not a number", remedy: "write it without quotes")
        }
        guard let value = Quantity.number(text) else {
            let digits = String(text.prefix { $0.isASCII && ($0.isNumber || "+-.".contains($0)) })
            let unit = text.dropFirst(digits.count)
            guard Quantity.number(digits) != nil, !unit.contains(where: \.isNumber) else {
                throw Refusal(problem: "\"\(text)\" is not a finite number", remedy: nil)
            }
            throw Refusal(
                problem: "\"\(text)\" carries a unit", remedy: "the unit is part of the name, write \(digits)")
        }
        guard range.contains(value) else {
            throw Refusal(problem: "\"\(text)\" is out of range", remedy: "choose \(words(for: range))")
        }
        return value
    }

    private static func words(for range: ClosedRange<Double>) -> String {
        guard range.upperBound == .greatestFiniteMagnitude else {
            return "\(Quantity.text(number: range.lowerBound)) to \(Quantity.text(number: range.upperBound))"
        }
        return range.lowerBound == 0 ? "0 or more" : "more than 0"
    }

    private static func duration(_ text: String, _ range: ClosedRange<Int64>, orOff: Bool) throws(Refusal) -> Int64 {
        do throws(Refusal) {
            let value = try Quantity.milliseconds(text)
            return try check(value, range, written: text, Quantity.text(milliseconds:))
        } catch {
            throw Refusal(problem: error.problem, remedy: error.remedy.map { $0 + (orOff ? ", or off" : "") })
        }
    }

    private static func size(_ text: String, _ range: ClosedRange<Int64>) throws(Refusal) -> Int64 {
        try check(try Quantity.bytes(text), range, written: text, Quantity.text(bytes:))
    }

    private static func check(
        _ value: Int64, _ range: ClosedRange<Int64>, written text: String, _ words: (Int64) -> String
    ) throws(Refusal) -> Int64 {
        guard range.contains(value) else {
            let remedy = "choose \(words(range.lowerBound)) to \(words(range.upperBound))"
            throw Refusal(problem: "\"\(text)\" is out of range", remedy: remedy)
        }
        return value
    }

    static func word(_ text: String, of words: [String]) throws(Refusal) -> String {
        guard words.contains(text) else {
            let remedy = NearestMatch.of(text, in: words).map { "did you mean \($0)?" }
            throw Refusal(problem: "\"\(text)\" is not one of \(words.joined(separator: ", "))", remedy: remedy)
        }
        return text
    }

    /// What is refused here is never quoted: somebody may have written the secret itself.
    private static func secretFile(_ text: String) throws(Refusal) -> String {
        let remedy = "store it in a file and give the file's path"
        guard !text.contains("-----BEGIN"), !text.contains("\n"), text.utf8.count <= 1024 else {
            throw Refusal(problem: "holds the secret itself", remedy: remedy)
        }
        guard !text.isEmpty, !text.utf8.contains(0) else { throw Refusal(problem: "is not a path", remedy: remedy) }
        return try SecretFile.path(text, credentials: SecretFile.credentialsFolder)
    }

    private static func speed(_ text: String) throws(Refusal) -> OptionValue {
        if text == "max" { return .off }
        let factor = Quantity.number(text.hasSuffix("x") ? String(text.dropLast()) : text)
        guard let factor, factor > 0 else {
            throw Refusal(problem: "\"\(text)\" is not a speed", remedy: "write 1x, 20x or max")
        }
        return .number(factor)
    }
}
