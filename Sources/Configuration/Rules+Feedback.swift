// Rules of where feedback goes.

extension Rules {
    static let feedback: [Rule] = [feedbackPlace, feedbackFile, feedbackEvents, feedbackTopic]

    private static let feedbackPlace = Rule(
        isWarning: false, about: [Options.feedback.to.declaration, Options.feedback.file.declaration]
    ) { configuration, _ in
        let hasFile = configuration[Options.feedback.file] != nil
        let says: (problem: String, remedy: String?)
        switch configuration[Options.feedback.to] {
        case "file" where !hasFile: says = ("needs a feedback.file", "set feedback.file")
        case "streams" where configuration.storeConnection == nil:
            says = (
                "needs source.redis.url, or storage.redis.url with source.kafka, where those streams would lie",
                "set it, or feedback.to: file"
            )
        case "topics" where configuration.source != .kafka:
            says = (
                "needs source.kafka, in whose cluster that topic would lie", "set it, or feedback.to: file"
            )
        default: return nil
        }
        return Rule.Broken(says: [says, says])
    }

    private static let feedbackFile = Rule(isWarning: true, about: [Options.feedback.file.declaration]) {
        configuration, _ in
        let place = configuration[Options.feedback.to]
        guard configuration[Options.feedback.file] != nil, place != "file" else { return nil }
        return Rule.Broken(says: [
            ("has no effect with feedback.to: \(place)", "set feedback.to: file, or remove this")
        ])
    }

    private static let feedbackEvents = Rule(isWarning: false, about: [Options.feedback.events.declaration]) {
        configuration, _ in
        let events = configuration[Options.feedback.events]
        let unknown = events.first { !FeedbackGroup.kinds.contains($0) }
        if let unknown {
            return Rule.Broken(says: [
                ("names \(unknown), which is no event", "use some of \(FeedbackGroup.kinds.joined(separator: ", "))")
            ])
        }
        guard events.isEmpty else { return nil }
        return Rule.Broken(says: [("names no event", "set feedback.to: off to have none")])
    }

    /// What is told would be read as events.
    private static let feedbackTopic = Rule(
        isWarning: false, about: [Options.feedback.topic.declaration, Options.feedback.to.declaration]
    ) { configuration, _ in
        let place = configuration[Options.feedback.to]
        guard place == "streams" || place == "topics" else { return nil }
        let topic = configuration[Options.feedback.topic]
        if place == "topics", !TextRule.kafkaName.accepts(topic) {
            let remedy = "use letters, digits and . _ -"
            return Rule.Broken(says: [
                ("is no name of a topic in Kafka", remedy), ("needs a feedback.topic that Kafka takes", remedy),
            ])
        }
        let isRead = configuration[place == "topics" ? Options.kafka.topics : Options.redis.topics].contains(topic)
        guard isRead else { return nil }
        return Rule.Broken(says: [
            ("is read as source, and what is told would come back as events", "choose another name"),
            ("needs a feedback.topic that is not read as source", "choose another feedback.topic"),
        ])
    }
}
