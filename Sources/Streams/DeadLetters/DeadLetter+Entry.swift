import RedisClient

// A dead letter as an entry of a stream, and as headers of a message: the record's own fields untouched, and beside them those that begin with
// `DeadLetter.prefix`.

extension DeadLetter {
    /// All that stands beside the record, but for attempts and the time of the first, which depend on what came with it.
    func fields(bodyField: String) -> [(name: String, value: [UInt8])] {
        let body =
            stage == .push ? ("contentState", value) : (Self.prefix + "body-field", Array(bodyField.utf8))
        return [body] + marks
    }

    /// What it says of itself, but for attempts and the time of the first.
    var marks: [(name: String, value: [UInt8])] {
        var marks: [(name: String, value: [UInt8])] = []
        func add(_ name: String, _ text: String?) {
            if let text { marks.append((Self.prefix + name, Array(text.utf8))) }
        }
        add("reason", reason)
        add("detail", detail)
        add("stage", stage.rawValue)
        add("source", source)
        add("topic", topic)
        add("partition", "\(partition)")
        if offset >= 0 { add("offset", "\(offset)") }
        add("entry", entry?.description)
        add("group", group)
        add("instance", instance)
        add("version", version)
        add("activity-id", activityIdentifier)
        add("sequence", sequence.map { "\($0)" })
        return marks
    }

    /// How often it has failed and since when: these go with a record that is published again, so that the next letter knows.
    var history: [(name: String, value: [UInt8])] {
        [
            (Self.prefix + "attempts", Array("\(attempts)".utf8)),
            (Self.prefix + "first-failed-at", Array("\(firstFailedAtMilliseconds)".utf8)),
        ]
    }

    /// From an entry of a stream of dead letters; nil where it is none.
    ///
    /// - Parameter fields: names and values in turn.
    init?(entry fields: RedisReply) {
        var own: [Substring: [UInt8]] = [:]
        var others: [(name: String, value: [UInt8])] = []
        var parts = fields.makeIterator()
        while let name = parts.next()?.text, let value = parts.next()?.bytes {
            if name.hasPrefix(Self.prefix) {
                own[name.dropFirst(Self.prefix.count)] = Array(value)
            } else {
                others.append((name, Array(value)))
            }
        }
        let bodyField =
            own["stage"].map { String(decoding: $0, as: UTF8.self) } == Stage.push.rawValue
            ? "contentState" : own["body-field"].map { String(decoding: $0, as: UTF8.self) } ?? "event"
        self.init(marks: own, value: others.first { $0.name == bodyField }?.value ?? [])
        if stage != .push {
            key = others.first { $0.name == "key" }?.value
            headers = others.filter { $0.name != bodyField && $0.name != "key" }.map(Header.init)
        }
    }

    /// What it says of itself; nil where it is none.
    ///
    /// - Parameter own: by name, without `prefix`.
    init?(marks own: [Substring: [UInt8]], value: [UInt8]) {
        func text(_ name: Substring) -> String? { own[name].map { String(decoding: $0, as: UTF8.self) } }
        func number<Number: FixedWidthInteger>(_ name: Substring) -> Number? { text(name).flatMap { Number($0) } }
        guard let reason = text("reason"), let stage = text("stage").flatMap(Stage.init) else { return nil }
        self.init(
            reason: reason, detail: text("detail") ?? "", stage: stage, source: text("source") ?? "", value: value)
        topic = text("topic")
        partition = number("partition") ?? 0
        offset = number("offset") ?? -1
        entry = text("entry").flatMap { RedisStreamID($0) }
        group = text("group")
        instance = text("instance")
        version = text("version")
        firstFailedAtMilliseconds = number("first-failed-at") ?? 0
        attempts = number("attempts") ?? 1
        activityIdentifier = text("activity-id")
        sequence = number("sequence")
    }
}
