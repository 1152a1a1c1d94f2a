/// All rules between options. What can only be meant wrong is a fault; what has an honest use is a warning.
enum Rules {
    static let overridable: [Rule] = [
        .duration(
            Options.pacing.refreshLead, .below, Options.pacing.staleAfter,
            because: "every state would be due for a refresh as soon as it is sent"),
        ceiling, intervalBeforeStale, lifeOnPhone, lifeRemembered, positionFieldsDiffer, sequenceFieldIsOwn,
    ]

    static let process: [Rule] =
        streams + kafka + deadLetters + api + feedback + [
            .duration(
                Options.delivery.reconnectDelay, .atMost, Options.delivery.reconnectDelayMax,
                because: "the first pause would exceed the longest"),
            .duration(
                Options.delivery.connectTimeout, .atMost, Options.delivery.requestTimeout, isWarning: true,
                because: "a request gives up while its connection still opens"),
            .duration(
                Options.delivery.pingAfter, .below, Options.delivery.requestTimeout, isWarning: true,
                because: "requests give up before a dead connection is noticed"),
            drainForRequests,
        ]

    /// What is shared is handed over within their lease, whatever requests would take; the next owner sends again what was cut off.
    private static let drainForRequests = Rule(
        isWarning: true, about: [Options.delivery.requestTimeout.declaration, Options.process.drainTimeout.declaration]
    ) { configuration, _ in
        let (request, drain) = (
            configuration[Options.delivery.requestTimeout], configuration.drainTimeoutMilliseconds
        )
        guard configuration.lease == nil, request > drain else { return nil }
        let why = "a stop may cut off requests that are still in time"
        let (requestText, drainText) = (Quantity.text(milliseconds: request), Quantity.text(milliseconds: drain))
        return Rule.Broken(says: [
            ("is longer than drainTimeout (\(drainText)): \(why)", "choose at most \(drainText)"),
            ("is shorter than delivery.requestTimeout (\(requestText)): \(why)", "choose at least \(requestText)"),
        ])
    }

    /// A ceiling that nobody set has no effect below a wide deadband, which alone is legal.
    private static let ceiling = Rule(
        isWarning: false,
        about: [
            Options.pacing.deadbandCeilingMeters.declaration, Options.pacing.deadbandMeters.declaration,
            Options.pacing.accuracyAware.declaration,
        ]
    ) { configuration, subject in
        let pacing = Options.pacing
        let ceiling = configuration[pacing.deadbandCeilingMeters, attributesType: subject]
        let deadband = configuration[pacing.deadbandMeters, attributesType: subject]
        let isSet = configuration.setting(pacing.deadbandCeilingMeters.declaration, below: subject)?.origin != .standard
        guard isSet, configuration[pacing.accuracyAware, attributesType: subject], ceiling < deadband else {
            return nil
        }
        return Rule.Broken(says: [
            (
                "is less than pacing.deadbandMeters (\(Quantity.text(number: deadband)))",
                "choose at least \(Quantity.text(number: deadband))"
            ),
            (
                "is more than pacing.deadbandCeilingMeters (\(Quantity.text(number: ceiling)))",
                "choose at most \(Quantity.text(number: ceiling))"
            ),
            ("makes pacing.deadbandCeilingMeters count, which is less than pacing.deadbandMeters", "raise the ceiling"),
        ])
    }

    private static let intervalBeforeStale = Rule(
        isWarning: true,
        about: [Options.pacing.minInterval, Options.pacing.staleAfter, Options.pacing.refreshLead].map(\.declaration)
    ) { configuration, subject in
        let pacing = Options.pacing
        let interval = configuration[pacing.minInterval, attributesType: subject]
        let lead = configuration[pacing.refreshLead, attributesType: subject]
        let fresh = configuration[pacing.staleAfter, attributesType: subject] - lead
        guard interval > fresh, fresh > 0 else { return nil }
        let why = "phones show a stale state between updates"
        return Rule.Broken(says: [
            (
                "is longer than pacing.staleAfter less pacing.refreshLead (\(Quantity.text(milliseconds: fresh))): \(why)",
                "choose at most \(Quantity.text(milliseconds: fresh))"
            ),
            (
                "less pacing.refreshLead is shorter than pacing.minInterval (\(Quantity.text(milliseconds: interval))): \(why)",
                "choose at least \(Quantity.text(milliseconds: interval + lead))"
            ),
            ("leaves less of pacing.staleAfter than pacing.minInterval: \(why)", "choose less"),
        ])
    }

    /// https://developer.apple.com/documentation/activitykit/displaying-live-data-with-live-activities: active for up
    /// to eight hours.
    private static let lifeOnPhone = Rule(isWarning: true, about: [Options.pacing.maxActivityLife.declaration]) {
        configuration, subject in
        guard let life = configuration[Options.pacing.maxActivityLife, attributesType: subject], life > 8 * Bounds.hour
        else { return nil }
        return Rule.Broken(says: [
            ("is longer than the 8 hours after which a phone ends an activity by itself", "choose at most 8h")
        ])
    }

    private static let lifeRemembered = Rule(
        isWarning: true, about: [Options.pacing.removeAfter.declaration, Options.pacing.maxActivityLife.declaration]
    ) { configuration, subject in
        let remembered = configuration[Options.pacing.removeAfter, attributesType: subject]
        guard let life = configuration[Options.pacing.maxActivityLife, attributesType: subject], life > remembered
        else { return nil }
        let why = "an ended activity is forgotten while its producer may still speak of it, and would begin anew"
        return Rule.Broken(says: [
            (
                "is shorter than pacing.maxActivityLife (\(Quantity.text(milliseconds: life))): \(why)",
                "choose at least \(Quantity.text(milliseconds: life))"
            ),
            (
                "is longer than pacing.removeAfter (\(Quantity.text(milliseconds: remembered))): \(why)",
                "choose at most \(Quantity.text(milliseconds: remembered))"
            ),
        ])
    }

    private static let positionFieldsDiffer = Rule(
        isWarning: false, about: [Options.pacing.positionFields.declaration]
    ) { configuration, subject in
        let fields = configuration[Options.pacing.positionFields, attributesType: subject] ?? [:]
        let bySource = fields.sorted { $0.key < $1.key }
        for (place, first) in bySource.enumerated() {
            guard
                let second = bySource[(place + 1)...].first(where: {
                    covers($0.value, first.value) || covers(first.value, $0.value)
                })
            else { continue }
            return Rule.Broken(says: [
                ("writes \(first.key) and \(second.key) over each other", "give each its own field")
            ])
        }
        return nil
    }

    private static let sequenceFieldIsOwn = Rule(
        isWarning: false, about: [Options.pacing.sequenceField.declaration, Options.pacing.positionFields.declaration]
    ) { configuration, subject in
        let sequence = configuration[Options.pacing.sequenceField, attributesType: subject]
        let fields = configuration[Options.pacing.positionFields, attributesType: subject] ?? [:]
        guard
            let source = fields.keys.sorted().first(where: {
                covers(fields[$0]!, sequence) || covers(sequence, fields[$0]!)
            })
        else { return nil }
        return Rule.Broken(says: [
            ("is also written by pacing.positionFields.\(source)", "give each its own field"),
            ("writes \(source) over pacing.sequenceField (\(sequence))", "give each its own field"),
        ])
    }

    /// Whether a dotted path is another or lies below it.
    private static func covers(_ path: String, _ other: String) -> Bool {
        other == path || other.hasPrefix(path + ".")
    }
}
