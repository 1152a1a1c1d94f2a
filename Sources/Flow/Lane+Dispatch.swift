import LiveActivities
import Pacing
import Telemetry

extension Lane {
    private enum Choice {
        case ready(shard: Int)
        case retry(RetryQueue.Waiting)
    }

    /// The push that should leave now, its body written into `body`; nil where nothing may go or no stream is free. Call it until then.
    public func next(at moment: Moment, body: inout ByteBuffer) -> Dispatch? {
        let (first, count) = poolsInTurn()
        for step in 0..<count {
            if let dispatch = next(pool: (first + step) % count, at: moment, body: &body) { return dispatch }
        }
        hasNews = false
        hasUrgentNews = false
        return nil
    }

    private func next(pool: Int, at moment: Moment, body: inout ByteBuffer) -> Dispatch? {
        pools[pool].retries.advance(to: moment.realMilliseconds)
        while pools[pool].breaker.permits(atMilliseconds: moment.realMilliseconds), !pools[pool].awaitsAnswer,
            let place = pools[pool].freestLink, let choice = choose(pool, at: moment)
        {
            let shard: Int
            let bound: Update?
            var tries = Tries()
            switch choice {
            case .retry(let waiting) where !mayLeave(waiting, pool: pool, at: moment): continue
            case .ready(let index):
                shard = index
                bound = shards[index].take(pool: pool, at: moment.pacing)
            case .retry(let waiting):
                shard = waiting.shard
                tries = waiting.tries
                bound = shards[waiting.shard].retake(waiting.ticket, at: moment.pacing)
            }
            guard let update = bound else { continue }
            guard let (headers, info) = write(update, into: &body, shard: shard, at: moment) else { continue }
            guard let permit = pools[pool].breaker.permit(atMilliseconds: moment.realMilliseconds) else {
                preconditionFailure("pool \(pool): the breaker permitted and then did not")
            }
            pools[pool].links[place].outstanding += 1
            standings[shard].inFlight += 1
            let link = pools[pool].links[place].index
            return inFlight.add { identifier in
                Dispatch(
                    identifier: identifier, link: link, pool: pool, update: update, headers: headers, shed: info.shed,
                    shard: shard, standing: standings[shard], permit: permit, tries: tries)
            }
        }
        return nil
    }

    /// Urgent before routine, what is tried again before what is new, the longest waiting first.
    private func choose(_ pool: Int, at moment: Moment) -> Choice? {
        var best: (shard: Int, ready: Ready)?
        for index in shards.indices {
            guard let ready = shards[index].ready(pool: pool), standings[index].maySend(at: moment.realMilliseconds),
                ready.isUrgent || !standings[index].isDraining
            else { continue }
            if let current = best, !ready.leavesBefore(current.ready) { continue }
            best = (index, ready)
        }
        if let waiting = pools[pool].retries.popDue(urgent: true) { return .retry(waiting) }
        if let best, best.ready.isUrgent { return .ready(shard: best.shard) }
        if isDraining { return nil }
        if let waiting = pools[pool].retries.popDue(urgent: false) { return .retry(waiting) }
        return best.map { .ready(shard: $0.shard) }
    }

    /// Nil where it is no push that APNs or a phone would take: then it is refused here, by name.
    private func write(
        _ update: Update, into body: inout ByteBuffer, shard: Int, at moment: Moment
    ) -> (PushHeaders?, PayloadInfo)? {
        if update.target.isChannel && !settings.broadcasts {
            refuse(
                update, shard: shard, name: "broadcast_unsupported",
                "the activity follows a broadcast channel, which this version cannot publish to; give it an update token",
                at: moment)
            return nil
        }
        do throws(PayloadFault) {
            body.removeAll()
            let info = try PayloadWriter.write(
                push(update), settings.types[update.attributesType], into: &body)
            guard let token = update.target.deviceToken else { return (nil, info) }
            let storage: PushHeaders.Storage = update.kind == .end ? .end : update.isUrgent ? .urgent : .routine
            let headers = PushHeaders(
                token: token, apnsIdentifier: (update.apnsIdentifier.high, update.apnsIdentifier.low),
                priority: UInt8(update.priority),
                expirationSeconds: PushHeaders.expirationSeconds(
                    storage, sentAtSeconds: moment.pacing.wallMilliseconds / 1_000,
                    staleAfterSeconds: settings.shard.staleAfterMilliseconds(attributesType: update.attributesType)
                        / 1_000))
            return (headers, info)
        } catch {
            refuse(update, shard: shard, name: error.name, error.explanation, at: moment)
            return nil
        }
    }

    private func refuse(_ update: Update, shard: Int, name: String, _ explanation: String, at moment: Moment) {
        shards[shard].settle(update.ticket, .refused, at: moment.pacing)
        explain(update, shard: shard, unpushable: name, at: moment)
        unpushable.append(
            Unpushable(
                update: update, partition: standings[shard].partition, name: name, explanation: explanation))
    }

    private func push(_ update: Update) -> Push {
        Push(
            event: update.kind.event, medium: update.target.isChannel ? .broadcast : .device,
            activityIdentifier: update.activityIdentifier, attributesType: update.attributesType,
            attributes: update.attributes, timestampSeconds: update.timestampSeconds, contentState: update.contentState,
            staleDateSeconds: update.staleDateSeconds, dismissal: update.dismissal,
            relevanceScore: update.relevanceScore,
            alert: update.alert)
    }
}

extension Ready {
    func leavesBefore(_ other: Ready) -> Bool {
        if isUrgent != other.isUrgent { return isUrgent }
        return (sinceMilliseconds, order) < (other.sinceMilliseconds, other.order)
    }
}

extension Update.Kind {
    var event: Push.Event {
        switch self {
        case .start: .start
        case .update: .update
        case .end: .end
        }
    }
}

extension PushTarget {
    public var deviceToken: PushToken? {
        switch self {
        case .updateToken(let token), .startToken(let token): token
        case .channel, .assumed: nil
        }
    }

    var isChannel: Bool {
        if case .channel = self { true } else { false }
    }
}

extension ShardSettings {
    func staleAfterMilliseconds(attributesType: String?) -> Int64 {
        guard let attributesType, !byAttributesType.isEmpty else { return self.default.staleAfterMilliseconds }
        return byAttributesType[attributesType]?.staleAfterMilliseconds ?? self.default.staleAfterMilliseconds
    }

    func minIntervalMilliseconds(attributesType: String?) -> Int64 {
        guard let attributesType, !byAttributesType.isEmpty else { return self.default.minIntervalMilliseconds }
        return byAttributesType[attributesType]?.minIntervalMilliseconds ?? self.default.minIntervalMilliseconds
    }
}
