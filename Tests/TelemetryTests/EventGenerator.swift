/// Draws events as producers write them, good and odd, and breaks them.
struct EventGenerator {
    private var random: SeededRandom
    /// Whether the message at hand is written as most are: else hardly one would have no oddity at all.
    private var isPlain = false

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    /// A message as a producer might write it, and what became of it: every other one is broken.
    mutating func message() -> (sound: [UInt8], message: [UInt8]) {
        isPlain = oneIn(2)
        var message = Array(event().utf8)
        if oneIn(8) { message = Array(wrapped(String(decoding: message, as: UTF8.self)).utf8) }
        let sound = message
        if oneIn(2) { return (sound, message) }
        for _ in 0..<Int.random(in: 1...3, using: &random) { mutate(&message) }
        return (sound, message)
    }

    // Whole events

    private mutating func event() -> String {
        var members: [(String, String)] = [
            (
                "type",
                oneIn(12)
                    ? pick([
                        "\"status\"", "\"token\"", "\"activity.ended\"", "\"activity.started\"", "null", "\"Position\"",
                    ]) : "\"position\""
            ),
            (oneIn(5) ? "subjectId" : "activityId", oneIn(6) ? value() : identifier()),
            ("timestamp", time()), ("latitude", coordinate(90)), ("longitude", coordinate(180)),
        ]
        for name in ["accuracy", "speed", "heading", "altitude"] where oneIn(2) {
            members.append((name, oneIn(10) ? value() : number()))
        }
        if oneIn(3) { members.append(("eventId", oneIn(8) ? value() : identifier())) }
        if oneIn(8) { members.append(("app", pick(["\"riders\"", "\"eaters\"", "\"\"", "null", "\"r\\u0069ders\""]))) }
        if oneIn(4) { members.append(("contentState", oneIn(6) ? value() : object())) }
        if oneIn(4) {
            members[0].1 = "\"status\""
            if oneIn(2) { members.removeAll { $0.0 == "latitude" || $0.0 == "longitude" } }
            if !oneIn(6) { members.append(("status", oneIn(6) ? value() : identifier())) }
            if oneIn(8) {
                members.append(
                    (pick(["alert", "relevanceScore"]), pick(["{\"title\":\"x\"}", "{}", "\"x\"", "7", "null"])))
            }
        }
        while oneIn(4) {
            members.append(
                (pick(["battery", "provider", "x", "", "latitudes", "types", "a\\u0062", "straße", "type"]), value()))
        }
        if oneIn(20), let member = members.randomElement(using: &random) { members.append(member) }
        if oneIn(3) { members.shuffle(using: &random) }
        if oneIn(20) { members.removeLast() }
        return written(members)
    }

    private mutating func wrapped(_ event: String) -> String {
        var members = [("value", event)]
        if oneIn(2) {
            members.insert(("partition", pick(["3", "0", "-1", "2147483648", "\"3\"", "null", "03"])), at: 0)
        }
        if oneIn(2) {
            members.insert(
                ("offset", pick(["0", "1042", "9223372036854775807", "9223372036854775808", "1e3", "null"])), at: 0)
        }
        if oneIn(2) { members.append(("receivedAt", time())) }
        if oneIn(3) { members.append(("key", identifier())) }
        if oneIn(12) { members.append((pick(["type", "broker", "value"]), value())) }
        return written(members)
    }

    private mutating func written(_ members: [(String, String)]) -> String {
        let style = Int.random(in: 0...3, using: &random)
        let colon = [":", ": ", " :\t", ":"][style]
        let comma = [",", ", ", " ,\n ", ","][style]
        let text = members.map { "\"\($0.0)\"\(colon)\($0.1)" }.joined(separator: comma)
        return (oneIn(16) ? " \n" : "") + "{" + (style == 2 ? " " : "") + text + "}" + (oneIn(16) ? " \r\n" : "")
    }

    private mutating func object() -> String {
        // More than are compared one by one, and now and then one twice.
        let count = oneIn(30) ? 20 : Int.random(in: 0...4, using: &random)
        return written(
            (0..<count).map { index in
                (oneIn(8) ? pick(["status", "f0", "straße", "a\\nb", "😀"]) : "f\(index)", value())
            })
    }

    private mutating func value() -> String {
        switch Int.random(in: 0...9, using: &random) {
        case 0: "null"
        case 1: "true"
        case 2: "false"
        case 3, 4: number()
        case 5: "[" + number() + "," + identifier() + "]"
        case 6: oneIn(3) ? object() : "{}"
        default: identifier()
        }
    }

    private mutating func identifier() -> String {
        let plain = "order-\(Int.random(in: 0...99_999, using: &random))"
        return switch isPlain ? 19 : Int.random(in: 0...19, using: &random) {
        case 0: "\"\""
        case 1: "\"" + String(repeating: "x", count: Int.random(in: 120...136, using: &random)) + "\""
        case 2: "\"\\u006f\(plain)\""
        case 3: "\"é\(plain)\""
        case 4: "\"\(plain)\\ud83d\\ude00\""
        case 5: "\"\\ud83d\(plain)\""
        case 6: "\"\(plain)}\\\"{\""
        default: "\"\(plain)\""
        }
    }

    private mutating func time() -> String {
        switch Int.random(in: isPlain ? 5...11 : 0...11, using: &random) {
        case 0:
            "\"2026-03-08T20:10:0\(Int.random(in: 0...9, using: &random)).\(Int.random(in: 0...99_999, using: &random))Z\""
        case 1:
            "\"2026-02-\(Int.random(in: 26...32, using: &random))t20:10:00+0\(Int.random(in: 0...9, using: &random)):30\""
        case 2: "1773000600\(Int.random(in: 0...999, using: &random))"
        case 3: number()
        case 4: "null"
        case 5, 6: "\(Double.random(in: 1.77e9...1.78e9, using: &random))"
        default: "17730006\(Int.random(in: 10...99, using: &random)).\(Int.random(in: 0...999, using: &random))"
        }
    }

    private mutating func coordinate(_ limit: Double) -> String {
        switch Int.random(in: isPlain ? 1...9 : 0...9, using: &random) {
        case 0: number()
        case 1, 2, 3: "\(Double.random(in: -limit...limit, using: &random))"
        case 4: pick(["\(limit)", "-\(limit)", "\(limit.nextUp)", "0", "-0", "-0.0", "null", "\"1\""])
        default:
            "\(Int.random(in: -Int(limit)...Int(limit), using: &random)).\(Int.random(in: 0...999_999, using: &random))"
        }
    }

    private mutating func number() -> String {
        func digits(_ count: Int) -> String {
            String((0..<count).map { _ in Character(String(Int.random(in: 0...9, using: &random))) })
        }
        switch isPlain ? 11 : Int.random(in: 0...11, using: &random) {
        case 0: return "\(Double(bitPattern: random.next()))"
        case 1: return digits(Int.random(in: 1...25, using: &random))
        case 2: return "0." + digits(Int.random(in: 1...25, using: &random))
        case 3: return "-" + digits(2) + "." + digits(Int.random(in: 15...19, using: &random))
        case 4:
            return digits(1) + "." + digits(3) + pick(["e", "E", "e+", "e-", "E-"])
                + digits(Int.random(in: 1...3, using: &random))
        case 5:
            return pick([
                "1e999", "-1e999", "1e-999", "NaN", "-", "01", "1.", ".5", "+1", "Infinity", "0x1", "9007199254740993",
                "18446744073709551616",
            ])
        default:
            return "\(Int.random(in: -10...500, using: &random))"
                + (oneIn(2) ? "." + digits(Int.random(in: 1...3, using: &random)) : "")
        }
    }

    // Broken ones

    private mutating func mutate(_ message: inout [UInt8]) {
        guard !message.isEmpty else { return }
        let place = Int.random(in: 0..<message.count, using: &random)
        let other = Int.random(in: 0..<message.count, using: &random)
        switch Int.random(in: 0...6, using: &random) {
        case 0: message[place] = UInt8.random(in: 0...255, using: &random)
        case 1: message[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
        case 2: message.remove(at: place)
        case 3: message.insert(pickByte(), at: place)
        case 4: message.removeSubrange(min(place, other)..<max(place, other))
        case 5: message.insert(contentsOf: message[min(place, other)..<max(place, other)], at: place)
        default: message.removeLast(message.count - place)
        }
    }

    private mutating func pickByte() -> UInt8 {
        Array("{}[]:,\"\\ \n0123456789.eE+-tfnu/".utf8).randomElement(using: &random) ?? 0
    }

    private mutating func pick(_ texts: [String]) -> String {
        texts.randomElement(using: &random) ?? ""
    }

    private mutating func oneIn(_ chances: Int) -> Bool {
        Int.random(in: 0..<chances, using: &random) == 0
    }
}
