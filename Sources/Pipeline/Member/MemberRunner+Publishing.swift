/// What can be seen of a member from outside: metrics, how each partition stands, readiness.
extension MemberRunner {
    func publish() {
        var lag: (records: Int64, milliseconds: Int64) = (0, 0)
        let now = engine.clock.moment.realMilliseconds
        let wall = engine.clock.moment.pacing.wallMilliseconds
        for case let feed? in feeds {
            let known = feed.lag(nowMilliseconds: now, wallMilliseconds: wall)
            lag.records += known.records ?? 0
            lag.milliseconds = max(lag.milliseconds, known.milliseconds)
        }
        if let crashes {
            for partition in member.ownedPartitions {
                for source in 0..<settings.member.sources {
                    guard let settled = member.progress(partition: partition, source: source).settled else { continue }
                    crashes.forget(partition, source: source, through: settled.offset)
                }
            }
        }
        let isReading = feeds.contains { $0 != nil }
        if store.fault == nil, isReading || source.hindrance == nil {
            knownLag = isReading ? (lag.records, lag.milliseconds, now) : nil
        } else if let known = knownLag {
            // As far as this process can know, nobody reads what it had to let go.
            lag.records = max(lag.records, known.records)
            lag.milliseconds = max(lag.milliseconds, known.milliseconds + now - known.atMilliseconds)
        }
        instruments.publish(
            member, fencedPushes: permits.fenced, unmirroredSaves: store.unmirroredSaves, lag: lag)
        reports.publish(member, feeds, at: engine.clock.moment)
        if let reason = store.unmirroredReason { notes.unmirrored(reason) }
        let unreadiness = self.unreadiness
        if unreadiness == nil { notes.well() }
        onReadiness?(unreadiness)
    }

    /// Why this process should be given no work; nil where it should.
    private var unreadiness: String? {
        if let fault = store.fault { return fault.description }
        if let fault = group.fault { return fault.description }
        if !group.hasJoined {
            if case .failing(let fault) = client.status { return fault.description }
            return "joining the group \(settings.group.name)"
        }
        if let hindrance = source.hindrance { return hindrance }
        if let registryHindrance {
            notes.hindered(registry: registryHindrance)
            return registryHindrance
        }
        let faults = feeds.compactMap { $0?.fault }
        for fault in faults { notes.hindered(fault) }
        return faults.first?.description ?? engine.deadLetters.hindrance ?? engine.hindrance
    }
}
