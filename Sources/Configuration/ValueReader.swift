/// Turns what was written into a value of a kind, and notes everything that is wrong with it.
struct ValueReader {
    struct Complaint: Equatable {
        let mark: Mark
        /// What to add to the option's key, for instance `.etaTimestamp`.
        let below: String
        let problem: String
        let remedy: String?
    }

    private(set) var complaints: [Complaint] = []

    mutating func read(_ node: Node, as kind: Kind) -> OptionValue? {
        guard !node.isNull || kind.takesEmpty else {
            return refuse(node, "has no value", "write one, or leave the line out")
        }
        switch kind {
        case .list: return list(node)
        case .numbers(let range): return numbers(node, range)
        case .names(let keys, let values, let orOff): return names(node, keys: keys, values: values, orOff: orOff)
        case .schema: return schema(node)
        default:
            guard case .scalar(let text, let isPlain) = node.content else {
                return refuse(node, "is \(node.says), expected \(kind.says)", nil)
            }
            return scalar(node, text, isPlain: isPlain, kind)
        }
    }

    private mutating func scalar(_ node: Node, _ text: String, isPlain: Bool, _ kind: Kind) -> OptionValue? {
        if kind.takesOff && text == "off" { return .off }
        switch kind {
        case .flag:
            guard isPlain, let value = Bool(text) else {
                return refuse(node, "\"\(text)\" is not true or false", unquote(text, isPlain, kind))
            }
            return .flag(value)
        case .integer(let range):
            guard isPlain, let value = Int64(text) else {
                return refuse(node, "\"\(text)\" is not a whole number", unquote(text, isPlain, kind))
            }
            guard range.contains(value) else {
                return refuse(node, "\"\(text)\" is out of range", "choose \(range.lowerBound) to \(range.upperBound)")
            }
            return .integer(value)
        case .number(let range, _):
            return number(node, text, isPlain: isPlain, range).map { .number($0) }
        case .duration(let range, _):
            do throws(Quantity.Unreadable) {
                let value = try Quantity.milliseconds(text)
                guard range.contains(value) else {
                    return refuse(node, "\"\(text)\" is out of range", range.advice(Quantity.text(milliseconds:)))
                }
                return .milliseconds(value)
            } catch { return refuse(node, error.problem, error.remedy + (kind.takesOff ? ", or off" : "")) }
        case .size(let range):
            do throws(Quantity.Unreadable) {
                let value = try Quantity.bytes(text)
                guard range.contains(value) else {
                    return refuse(node, "\"\(text)\" is out of range", range.advice(Quantity.text(bytes:)))
                }
                return .bytes(value)
            } catch { return refuse(node, error.problem, error.remedy) }
        case .choice(let words):
            guard words.contains(text) else {
                return refuse(node, "\"\(text)\" is not one of \(words.joined(separator: ", "))", nearest(text, words))
            }
            return .text(text)
        case .text(let rule):
            guard rule.accepts(text) else { return refuse(node, "\"\(text)\" is not \(rule.says)", nil) }
            return .text(text)
        case .path:
            guard !text.isEmpty, !text.utf8.contains(0) else {
                return refuse(node, "is not a path", "write a file's path")
            }
            return .text(text)
        case .secretFile:
            // Never quoted in a fault: somebody may have put the key itself here.
            let looksLikeSecret = text.contains("-----BEGIN") || text.contains("\n") || text.utf8.count > 1024
            guard !text.isEmpty, !looksLikeSecret, !text.utf8.contains(0) else {
                return refuse(
                    node, looksLikeSecret ? "holds the secret itself" : "is empty",
                    "store it in a file and give the file's path")
            }
            return .text(text)
        case .address:
            guard Address(parsing: text) != nil else {
                return refuse(
                    node, "\"\(text)\" is not host:port",
                    "write for instance 127.0.0.1:9464" + (kind.takesOff ? ", or off" : ""))
            }
            return .text(text)
        case .speed:
            if text == "max" { return .off }
            let factor = Quantity.number(text.hasSuffix("x") ? String(text.dropLast()) : text)
            guard let factor, factor > 0 else {
                return refuse(node, "\"\(text)\" is not a speed", "write 1x, 20x or max")
            }
            return .number(factor)
        case .list, .numbers, .names, .schema:
            preconditionFailure("collections are read elsewhere")
        }
    }

    private mutating func number(
        _ node: Node, _ text: String, isPlain: Bool, _ range: ClosedRange<Double>, below: String = ""
    ) -> Double? {
        guard isPlain, let value = Quantity.number(text) else {
            let leading = String(text.prefix { $0.isASCII && ($0.isNumber || "+-.".contains($0)) })
            let hasUnit =
                isPlain && Quantity.number(leading) != nil && !text.dropFirst(leading.count).contains(where: \.isNumber)
            return refuse(
                node, below: below, hasUnit ? "\"\(text)\" carries a unit" : "\"\(text)\" is not a finite number",
                hasUnit ? "the unit is part of the name, write \(leading)" : isPlain ? nil : "write it without quotes")
        }
        guard range.contains(value) else {
            return refuse(node, below: below, "\"\(text)\" is out of range", range.advice(Quantity.text(number:)))
        }
        return value
    }

    private mutating func list(_ node: Node) -> OptionValue? {
        if node.isNull { return .list([]) }
        guard case .sequence(let items) = node.content else {
            return refuse(node, "is \(node.says), expected a list", "write [a, b], or one - item a line")
        }
        var words: [String] = []
        for item in items {
            guard case .scalar(let word, _) = item.content, !item.isNull else {
                let _: OptionValue? = refuse(item, "holds \(item.says), expected text", nil)
                continue
            }
            guard !words.contains(word) else {
                let _: OptionValue? = refuse(item, "\"\(word)\" is listed twice", "remove one")
                continue
            }
            words.append(word)
        }
        return .list(words)
    }

    private mutating func entries(_ node: Node, orOff: Bool) -> [Node.Entry]? {
        if node.isNull { return [] }
        guard case .mapping(let entries) = node.content else {
            return refuse(
                node, "is \(node.says), expected a mapping" + (orOff ? " or off" : ""), "write one name: value a line")
        }
        return entries
    }

    private mutating func numbers(_ node: Node, _ range: ClosedRange<Double>) -> OptionValue? {
        guard let entries = entries(node, orOff: false) else { return nil }
        var values: [String: Double] = [:]
        for entry in entries {
            guard case .scalar(let text, let isPlain) = entry.value.content else {
                let _: OptionValue? = refuse(
                    entry.value, below: "." + entry.key, "is \(entry.value.says), expected a number", pathAdvice(entry))
                continue
            }
            values[entry.key] = number(entry.value, text, isPlain: isPlain, range, below: "." + entry.key)
        }
        return .numbers(values)
    }

    private mutating func names(_ node: Node, keys: [String]?, values: [String]?, orOff: Bool) -> OptionValue? {
        if orOff, case .scalar("off", _) = node.content { return .off }
        guard let entries = entries(node, orOff: orOff) else { return nil }
        var names: [String: String] = [:]
        for entry in entries {
            if let keys, !keys.contains(entry.key) {
                complaints.append(
                    Complaint(
                        mark: entry.keyMark, below: "." + entry.key,
                        problem: "is not one of \(keys.joined(separator: ", "))",
                        remedy: nearest(entry.key, keys)))
                continue
            }
            guard case .scalar(let word, _) = entry.value.content, !entry.value.isNull else {
                let _: OptionValue? = refuse(
                    entry.value, below: "." + entry.key,
                    "is \(entry.value.says), expected \(values == nil ? "a field path" : "one word")", pathAdvice(entry)
                )
                continue
            }
            if let values, !values.contains(word) {
                let _: OptionValue? = refuse(
                    entry.value, below: "." + entry.key, "\"\(word)\" is not one of \(values.joined(separator: ", "))",
                    nearest(word, values))
                continue
            }
            names[entry.key] = word
        }
        return .names(names)
    }

    private mutating func schema(_ node: Node) -> OptionValue? {
        switch node.content {
        case .scalar(let path, _) where !path.isEmpty && !path.utf8.contains(0): .schema(.file(path))
        case .mapping: .schema(.inline(node.json))
        default: refuse(node, "is \(node.says), expected a path or a schema", nil)
        }
    }

    private func pathAdvice(_ entry: Node.Entry) -> String? {
        guard case .mapping(let inner) = entry.value.content, let first = inner.first else { return nil }
        return "write the path in one piece: \(entry.key).\(first.key)"
    }

    private func unquote(_ text: String, _ isPlain: Bool, _ kind: Kind) -> String? {
        if !isPlain { return "write it without quotes" }
        guard case .flag = kind else { return nil }
        return switch asciiLowercased(text) {
        case "yes", "on", "y", "1", "true": "write true"
        case "no", "off", "n", "0", "false": "write false"
        default: nil
        }
    }

    private func nearest(_ word: String, _ words: [String]) -> String? {
        NearestMatch.of(word, in: words).map { "did you mean \($0)?" }
    }

    private mutating func refuse<Value>(_ node: Node, below: String = "", _ problem: String, _ remedy: String?)
        -> Value?
    {
        complaints.append(Complaint(mark: node.mark, below: below, problem: problem, remedy: remedy))
        return nil
    }
}

extension ClosedRange {
    /// `choose 1s to 1h`, and no upper bound where it is only there to keep arithmetic safe.
    fileprivate func advice(_ text: (Bound) -> String) -> String {
        if let upper = upperBound as? Double, upper == .greatestFiniteMagnitude {
            return lowerBound as? Double == 0 ? "choose 0 or more" : "choose more than 0"
        }
        return "choose \(text(lowerBound)) to \(text(upperBound))"
    }
}
