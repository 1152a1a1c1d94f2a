// Rules of where dead letters go.

extension Rules {
    static let deadLetters: [Rule] = [deadLetterPlace, deadLetterAge, deadLetterTopic]

    private static let deadLetterPlace = Rule(
        isWarning: false, about: [Options.deadLetters.to.declaration, Options.deadLetters.file.declaration]
    ) { configuration, _ in
        let hasFile = configuration[Options.deadLetters.file] != nil
        let says: (problem: String, remedy: String?)
        switch configuration[Options.deadLetters.to] {
        case "file" where !hasFile: says = ("needs a deadLetters.file", "set deadLetters.file")
        case "streams" where configuration.source != .redis:
            says = (
                "needs source.redis.url, where those streams would lie", "set it, or deadLetters.file in place of this"
            )
        case "topics" where configuration.source != .kafka:
            says = (
                "needs source.kafka, in whose cluster those topics would lie",
                "set it, or deadLetters.file in place of this"
            )
        case "streams" where hasFile, "topics" where hasFile:
            says = ("does not go with deadLetters.file", "remove one of them")
        default: return nil
        }
        return Rule.Broken(says: [says, says])
    }

    private static let deadLetterAge = Rule(isWarning: true, about: [Options.deadLetters.maxAge.declaration]) {
        configuration, _ in
        guard configuration.deadLetterPlace != "streams", configuration[Options.deadLetters.maxAge] != nil else {
            return nil
        }
        return Rule.Broken(says: [
            configuration.deadLetterPlace == "topics"
                ? ("has no effect on topics", "remove it, and set retention.ms of the topic of dead letters")
                : ("has no effect, as dead letters do not go to streams", "remove it, or set deadLetters.to: streams")
        ])
    }

    private static let deadLetterTopic = Rule(isWarning: false, about: [Options.deadLetters.topicPrefix.declaration]) {
        configuration, _ in
        let prefix = configuration[Options.deadLetters.topicPrefix]
        guard configuration.deadLetterPlace == "topics" else { return nil }
        guard TextRule.kafkaName.accepts(prefix) else {
            return Rule.Broken(says: [("is no beginning of a topic's name in Kafka", "use letters, digits and . _ -")])
        }
        let longest = configuration[Options.kafka.topics].max { $0.utf8.count < $1.utf8.count } ?? ""
        let length = prefix.utf8.count + longest.utf8.count
        guard length > 249 else { return nil }
        return Rule.Broken(says: [
            ("makes \(longest) a name of \(length) characters, and Kafka takes 249", "choose a shorter one")
        ])
    }
}

extension Configuration {
    /// `deadLetters.to`, or what follows from the rest where nobody set it.
    public var deadLetterPlace: String {
        if let place = self[Options.deadLetters.to] { return place }
        if self[Options.deadLetters.file] != nil { return "file" }
        return switch source {
        case .kafka: "topics"
        case .redis: "streams"
        case .recording, nil: "nowhere"
        }
    }
}
