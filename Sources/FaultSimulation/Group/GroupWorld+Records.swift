import Flow
import Pacing
import Telemetry

extension GroupWorld {
    // MARK: Producers

    mutating func append(_ event: SimulatedEvent) {
        // A stream delivers again by itself, where a new owner begins before what the last one had read.
        guard !event.isRedelivery else { return }
        let partition = event.isForSubject ? 0 : Int(rides[event.name].partition)
        let source = source(of: event)
        if random.chance(percent: group.poisonPercent) {
            _ = log.append(nil, partition: partition, source: source, atMilliseconds: realMilliseconds)
        }
        if event.nature == .truth { learn(event, nowMilliseconds: unixMilliseconds) }
        let record = log.append(event, partition: partition, source: source, atMilliseconds: realMilliseconds)
        let concerned =
            event.isForSubject ? rides.indices.filter { rides[$0].truth.subject == event.name } : [event.name]
        if event.nature == .truth {
            for activity in concerned { referee.learn(rides[activity].truth, activity, order: record.order) }
        } else if event.nature == .replay {
            cover(.producedTwice, event.name)
        }
        for activity in concerned {
            note(
                activity, [Int64(event.kind.rawValue), record.offset, event.timestampMilliseconds],
                "published, \(partition)/\(source) \(record.order): \(event.kind)\(event.nature == .truth ? "" : " (\(event.nature))") \(event.summary)"
            )
        }
        for node in nodes where node.isRunning && node.readings[partition] != nil { touch(node) }
    }

    private func source(of event: SimulatedEvent) -> Int {
        if group.splitsKinds { return event.kind == .position ? 1 : 0 }
        return scenario.subjects > 0 || event.isForSubject ? 0 : event.name % group.sources
    }

    // MARK: Readers

    /// Asks for what can be read, and forgets what may not be read any more.
    mutating func fetch(_ node: Node) {
        for partition in 0..<group.partitions {
            guard node.member.isReading(Int32(partition)) else {
                node.readings[partition] = nil
                continue
            }
            let epoch = node.member.epoch(of: Int32(partition))
            if node.epochs[partition] != epoch { node.readings[partition] = nil }
            if node.readings[partition] == nil {
                guard beginAtCommitted(node, partition) else { continue }
                node.epochs[partition] = epoch
                node.turns[partition] += 1
                node.batches[partition] = []
                node.readings[partition] = (0..<group.sources).map { source in
                    let offset = node.member.readAfter(partition: Int32(partition), source: source)
                    return Node.Reading(askedOffset: offset, appliedOffset: offset)
                }
                for source in 0..<group.sources {
                    node.member.noteEnd(
                        partition: Int32(partition), source: source,
                        offset: log.end(partition: partition, source: source) ?? -1,
                        at: node.read(atMilliseconds: realMilliseconds))
                }
                note(nil, [30, Int64(node.index), Int64(partition)], "\(node.name) begins to read \(partition)")
            }
            guard let readings = node.readings[partition] else { continue }
            for (source, reading) in readings.enumerated()
            where !reading.isUnderWay && node.batches[partition].count < 3
                && log.hasMore(partition: partition, source: source, after: reading.askedOffset)
            {
                node.readings[partition]?[source].isUnderWay = true
                agenda.plan(
                    .group(
                        .fetched(
                            node: node.index, partition: partition, source: source, turn: node.turns[partition])),
                    atMilliseconds: realMilliseconds
                        + random.between(group.storeMilliseconds.lowerBound, group.storeMilliseconds.upperBound))
            }
        }
    }

    mutating func fetched(_ node: Node, _ partition: Int, _ source: Int, _ turn: Int) throws(Broken) {
        guard node.isRunning, node.turns[partition] == turn, let reading = node.readings[partition]?[source] else {
            return
        }
        node.readings[partition]?[source].isUnderWay = false
        touch(node)
        guard storeWeather.isUp(realMilliseconds) else { return }
        guard node.member.isReading(Int32(partition)) else { return }
        let records = log.read(
            partition: partition, source: source, after: reading.askedOffset, atMost: group.fetchCount)
        guard let last = records.last, !dies(node, before: .fetched) else { return }
        node.readings[partition]?[source].askedOffset = last.offset
        var places = [Shard.Place?](repeating: nil, count: records.count)
        let ticket = node.member.prepare(
            records.count, partition: Int32(partition), at: node.read(atMilliseconds: realMilliseconds)
        ) {
            guard let event = records[records.startIndex + $0].event else {
                return (UnsafeRawBufferPointer(start: nil, count: 0), false)
            }
            return (script.names[event.name], event.isForSubject)
        } found: {
            places[$0] = $1
        }
        node.batches[partition].append(Node.Batch(source: source, ticket: ticket, records: records, places: places))
    }

    /// - Returns: whether something was applied.
    mutating func applyPrepared(_ node: Node, _ moment: Moment) throws(Broken) -> Bool {
        var hasApplied = false
        for partition in 0..<group.partitions {
            while node.isRunning, let batch = node.batches[partition].first, node.member.isPrepared(batch.ticket) {
                guard node.member.isReading(Int32(partition)) else {
                    node.batches[partition] = []
                    break
                }
                node.batches[partition].removeFirst()
                node.member.finish(batch.ticket)
                for (record, place) in zip(batch.records, batch.places) {
                    if dies(node, before: .applied) { return true }
                    try apply(record, place, node, partition, batch.source, moment)
                }
                hasApplied = true
            }
        }
        return hasApplied
    }

    private mutating func apply(
        _ record: SharedLog.Record, _ place: Shard.Place?, _ node: Node, _ partition: Int, _ source: Int,
        _ moment: Moment
    ) throws(Broken) {
        node.readings[partition]?[source].appliedOffset = record.offset
        guard let event = record.event else {
            node.member.countDeadLetter(
                partition: Int32(partition), source: source, offset: record.offset, at: moment)
            return
        }
        concerned = event.isForSubject ? nil : event.name
        let faults = node.member.apply(
            Event(
                kind: event.kind, isForSubject: event.isForSubject, identifier: script.names[event.name],
                timestampMilliseconds: event.timestampMilliseconds, eventIdentifierHash: event.identifierHash,
                position: event.position, detail: event.detail), place: place, partition: Int32(partition),
            source: source, offset: record.offset, at: moment)
        if let fault = faults.faults.first {
            throw Broken(.pushIsGood, "a good record is a dead letter: \(fault)")
        }
        note(
            event.isForSubject ? nil : event.name, [31, Int64(node.index), record.offset],
            "\(node.name) applies \(partition)/\(source) \(record.order): \(event.kind)")
    }

    /// The first record of a partition that a member may not know, by its order: all before it has applied.
    func order(knownBy node: Node, _ partition: Int) -> Int {
        guard let readings = node.readings[partition] else { return 0 }
        var order = Int.max
        for (source, reading) in readings.enumerated() {
            order = min(order, log.order(partition: partition, source: source, after: reading.appliedOffset))
        }
        return order
    }
}
