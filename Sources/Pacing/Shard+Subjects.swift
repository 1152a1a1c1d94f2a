import Telemetry

extension Shard {
    /// Applies a subject's event to the activity of that name, if the subject is one itself, and to each follower, in the order of their start.
    func applyToSubject(_ event: Event, origin: Origin, _ moment: Instant) -> ApplyFaults {
        var faults = ApplyFaults()
        if event.kind == .activityStarted || event.kind == .token {
            let place = place(of: event.identifier)
            if let fault = applyToActivity(event, at: place, origin: origin, moment) { faults.add(fault) }
            return faults
        }
        let drop =
            event.kind == .position ? Sanity.drop(event, rules[0].position, moment) : nil
        var recipients = subjects.followers(of: event.identifier)
        // One that has ended does not follow itself either; it answers alone where nobody follows.
        if let own = find(event.identifier),
            recipients.isEmpty || !state(own).pointee.flags.contains(.ended)
        {
            recipients.append(own)
            recipients.sort { state($0).pointee.startOrder < state($1).pointee.startOrder }
        }
        if event.kind == .position, drop == nil {
            subjects.see(
                event.identifier, event.position, timestampMilliseconds: event.timestampMilliseconds,
                oldestOfUseMilliseconds: moment.wallMilliseconds - settings.default.maxAgeMilliseconds)
        }
        if recipients.isEmpty {
            decisions.activityEvents += 1
            count(.noFollower)
        }
        for index in recipients {
            decisions.activityEvents += 1
            if let fault = applyToKnown(index, event, origin: origin, moment) { faults.add(fault) }
        }
        return faults
    }

    /// From its start on an activity gets the subject's events; where the subject is now, so is the activity.
    func follow(_ index: UInt32, _ subject: String, _ rules: PacingRules, _ moment: Instant) {
        let record = record(index)
        guard record.subject == nil else { return }
        let (place, known) = subjects.follow(subject, by: index)
        record.subject = place
        takePosition(index, of: known, rules, moment)
    }

    /// The activity is the subject itself, and so where that was last seen.
    func takePosition(_ index: UInt32, of event: Event, _ rules: PacingRules, _ moment: Instant) {
        guard let known = subjects.find(event.identifier) else { return }
        takePosition(index, of: known, rules, moment)
    }

    private func takePosition(_ index: UInt32, of known: Subjects.Subject, _ rules: PacingRules, _ moment: Instant) {
        guard let position = known.position,
            known.timestampMilliseconds > state(index).pointee.latestTimestampMilliseconds,
            moment.wallMilliseconds - known.timestampMilliseconds <= rules.settings.maxAgeMilliseconds
        else { return }
        move(index, position, timestampMilliseconds: known.timestampMilliseconds, rules.position)
    }

    /// What has ended follows nothing.
    func unfollow(_ index: UInt32) {
        let record = record(index)
        guard let subject = record.subject else { return }
        record.subject = nil
        if settings.keepsCheckpoints { formerSubjects[index] = subjects.name(ofPlace: subject) }
        subjects.unfollow(subject, by: index)
    }
}
