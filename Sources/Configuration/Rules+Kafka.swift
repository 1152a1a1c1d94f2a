// Rules of what comes from Kafka.

extension Rules {
    static let kafka: [Rule] = [
        serversAndTopics, atMostEightTopics, severalTopicsNeedRange, drainBeforeSession, drainBeforePoll,
        clientCertificate, certificateOnlyWithTLS, loginIsWhole, loginIsUsed, loginInTheClear,
        .duration(
            Options.kafka.sessionTimeout, .atMost, Options.kafka.pollIntervalMax,
            because: "a process could be busy past its poll interval without being missed"),
    ]

    private static let serversAndTopics = Rule(
        isWarning: false, about: [Options.kafka.bootstrapServers, Options.kafka.topics].map(\.declaration)
    ) { configuration, _ in
        let (servers, topics) = (configuration[Options.kafka.bootstrapServers], configuration[Options.kafka.topics])
        guard servers.isEmpty != topics.isEmpty else { return nil }
        return Rule.Broken(says: [
            ("come without topics", "set source.kafka.topics as well"),
            ("come without a cluster", "set source.kafka.bootstrapServers as well"),
        ])
    }

    private static let atMostEightTopics = Rule(isWarning: false, about: [Options.kafka.topics.declaration]) {
        configuration, _ in
        let count = configuration[Options.kafka.topics].count
        return count > 8 ? Rule.Broken(says: [("are \(count) topics", "name at most 8")]) : nil
    }

    /// cooperative-sticky looks at each topic by itself: partition 3 of one could go here and that of the other there, and an
    /// activity that both feed would have two owners.
    private static let severalTopicsNeedRange = Rule(
        isWarning: false, about: [Options.kafka.assignment.declaration, Options.kafka.topics.declaration]
    ) { configuration, _ in
        let count = configuration[Options.kafka.topics].count
        guard count > 1, configuration[Options.kafka.assignment] == "cooperative-sticky" else { return nil }
        let why = "partitions of one number would not come to one process, and an activity could have two owners"
        return Rule.Broken(says: [
            ("spreads the \(count) topics of source.kafka.topics one by one: \(why)", "choose range, or one topic"),
            ("are \(count) topics, and source.kafka.assignment is cooperative-sticky: \(why)", "choose range for it"),
        ])
    }

    private static let drainBeforeSession = Rule(
        isWarning: false, about: [Options.process.drainTimeout.declaration, Options.kafka.sessionTimeout.declaration]
    ) { configuration, _ in
        let session = configuration[Options.kafka.sessionTimeout]
        guard configuration.source == .kafka, let drain = configuration[Options.process.drainTimeout], drain >= session
        else { return nil }
        let (drainText, sessionText) = (Quantity.text(milliseconds: drain), Quantity.text(milliseconds: session))
        let why = "the group would take the process for dead while it still waits for answers"
        let atLeast = Quantity.text(milliseconds: (drain / 1000 + 1) * 1000)
        return Rule.Broken(says: [
            (
                "is not shorter than source.kafka.sessionTimeout (\(sessionText)): \(why)",
                "choose \(Quantity.text(milliseconds: session * 3 / 5)), or source.kafka.sessionTimeout of \(atLeast)"
            ),
            (
                "is not longer than drainTimeout (\(drainText)): \(why)",
                "choose at least \(atLeast), or a shorter drainTimeout"
            ),
        ])
    }

    /// What is left for the last save and the commit of partitions that are given back.
    private static let handOverMilliseconds: Int64 = 2_000

    private static let drainBeforePoll = Rule(
        isWarning: false, about: [Options.process.drainTimeout.declaration, Options.kafka.pollIntervalMax.declaration]
    ) { configuration, _ in
        let interval = configuration[Options.kafka.pollIntervalMax]
        guard configuration.source == .kafka, let drain = configuration[Options.process.drainTimeout],
            drain + handOverMilliseconds >= interval
        else { return nil }
        let (drainText, intervalText) = (Quantity.text(milliseconds: drain), Quantity.text(milliseconds: interval))
        let slack = Quantity.text(milliseconds: handOverMilliseconds)
        let why = "the process would be put out of the group while it hands partitions over"
        let atLeast = Quantity.text(milliseconds: ((drain + handOverMilliseconds) / 1000 + 1) * 1000)
        return Rule.Broken(says: [
            (
                "and \(slack) for the hand-over are not shorter than source.kafka.pollIntervalMax (\(intervalText)): \(why)",
                "choose less than \(Quantity.text(milliseconds: interval - handOverMilliseconds)), "
                    + "or source.kafka.pollIntervalMax of \(atLeast)"
            ),
            (
                "is not longer than drainTimeout (\(drainText)) and \(slack) for the hand-over: \(why)",
                "choose at least \(atLeast), or a shorter drainTimeout"
            ),
        ])
    }
}
