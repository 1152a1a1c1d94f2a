import Flow
import Pacing
import RedisClient

extension RedisStore {
    func answer(to request: StoreRequest, _ outcome: RedisOutcome) -> Result<StoreAnswer, StoreFault> {
        switch reply(outcome, asked: request.text) {
        case .success(let reply): answer(to: request, reply)
        case .failure(let fault): .failure(fault)
        }
    }

    private func answer(to request: StoreRequest, _ reply: RedisReply) -> Result<StoreAnswer, StoreFault> {
        // Every script of an owner says so when it is none, or Redis is behind or has forgotten it, and none of them gives these for anything else.
        if reply.kind == .integer, request.epoch != nil {
            if reply.integer == 0 { return .success(.lost) }
            if reply.integer == -1 { return .success(.behind) }
            if reply.integer == -2 { return .success(.forgotten) }
        }
        switch request {
        case .beat where reply.kind == .array:
            return .success(
                .alive(
                    members: reply.dropFirst().map { $0.text ?? "" }.sorted(), isNew: reply[0]?.integer == 1))
        case .leave where reply.kind == .integer:
            return .success(.left)
        case .claim(let partition) where reply.kind == .array:
            return claimAnswer(partition, reply)
        case .renew where reply.integer == 1:
            return .success(.renewed)
        case .release where reply.integer == 1:
            return .success(.released)
        case .load(_, _, let keys) where reply.kind == .array:
            return .success(.loaded(loaded(keys, reply)))
        case .loadDue where reply.kind == .array:
            return .success(.loaded(loadedDue(reply)))
        case .save where reply.kind == .string:
            unmirroredSaves += 1
            unmirroredReason = reply.text
            return .success(.saved)
        case .save where reply.integer == 1:
            return .success(.saved)
        default:
            return .failure(StoreFault(strangeAnswerTo: request.text, place: place))
        }
    }

    private func claimAnswer(_ partition: Int32, _ reply: RedisReply) -> Result<StoreAnswer, StoreFault> {
        let keys = call.keys(of: partition)
        var parts = reply.makeIterator()
        let outcome = parts.next()
        if outcome?.equals("held") == true, let holder = parts.next()?.text, let milliseconds = parts.next()?.integer {
            return .success(.held(byMember: holder, forMilliseconds: milliseconds))
        }
        if outcome?.equals("claimed") == true, let epoch = parts.next()?.integer, let absence = parts.next() {
            var positions: [SettledPosition?] = []
            while let part = parts.next() {
                guard let bytes = part.bytes else {
                    positions.append(nil)
                    continue
                }
                guard let position = SettledPosition(bytes, group.source) else {
                    return .failure(
                        StoreFault(
                            .misconfigured,
                            """
                            Field \(group.topics[positions.count]) of key \(String(decoding: keys.cursor, as: UTF8.self)) in Redis at \
                            \(place) is no position: \(part.text ?? ""). It is written \(group.source.positionForm); HDEL it to read the topic \
                            from its beginning.
                            """))
                }
                positions.append(position)
            }
            return .success(
                .claimed(
                    Claim(epoch: Epoch(clamping: epoch), positions: positions, absenceMilliseconds: absence.integer)))
        }
        let format = parts.next()?.text ?? "unknown"
        return .failure(
            StoreFault(
                .misconfigured,
                """
                Group \(group.name) in Redis at \(place) is kept in format \(format), and this version knows \(ScriptCall.format) at most. \
                Run the newer version, or give this one another group (\(group.source.options).group).
                """))
    }

    /// Activities come in the order in which they were asked for, those that follow a subject after them with their ids.
    private func loaded(_ keys: [LoadKey], _ reply: RedisReply) -> [LoadedCheckpoint] {
        var found: [LoadedCheckpoint] = []
        found.reserveCapacity(reply.count)
        var parts = reply.makeIterator()
        for key in keys where !key.isSubject {
            guard let bytes = parts.next()?.bytes else { continue }
            found.append(LoadedCheckpoint(identifier: key.identifier, bytes: [UInt8](bytes)))
        }
        while let identifier = parts.next()?.bytes, let bytes = parts.next()?.bytes {
            found.append(LoadedCheckpoint(identifier: [UInt8](identifier), bytes: [UInt8](bytes)))
        }
        return found
    }

    private func loadedDue(_ reply: RedisReply) -> [LoadedCheckpoint] {
        var found: [LoadedCheckpoint] = []
        found.reserveCapacity(reply.count / 3)
        var parts = reply.makeIterator()
        while let identifier = parts.next()?.bytes, let bytes = parts.next()?.bytes, let due = parts.next() {
            found.append(
                LoadedCheckpoint(identifier: [UInt8](identifier), bytes: [UInt8](bytes), dueMilliseconds: due.integer))
        }
        return found
    }
}

extension SettledPosition {
    /// From `positionForm`.
    init?(_ text: UnsafeRawBufferPointer, _ source: GroupSettings.Source) {
        guard let space = text.firstIndex(of: UInt8(ascii: " ")),
            let records = Int64(String(decoding: text[(space + 1)...], as: UTF8.self))
        else { return nil }
        let place = UnsafeRawBufferPointer(rebasing: text[..<space])
        let found: Int64? =
            switch source {
            case .streams: RedisStreamID(place)?.offset
            case .topics: Int64(String(decoding: place, as: UTF8.self))
            }
        guard let offset = found else { return nil }
        self.init(offset: offset, records: records)
    }
}

extension GroupSettings.Source {
    fileprivate var positionForm: String {
        switch self {
        case .streams: "\"ms-seq records\""
        case .topics: "\"offset records\""
        }
    }
}

extension StoreRequest {
    var epoch: Epoch? {
        switch self {
        case .beat, .leave, .claim: nil
        case .renew(_, let epoch, _), .release(_, let epoch, _), .load(_, let epoch, _),
            .loadDue(_, let epoch, _, _, _),
            .save(_, let epoch, _):
            epoch
        }
    }

    /// For people.
    var text: String {
        switch self {
        case .beat: "a member's heartbeat"
        case .leave: "a member's farewell"
        case .claim(let partition): "a claim of partition \(partition)"
        case .renew(let partition, _, _): "a renewal of the lease of partition \(partition)"
        case .release(let partition, _, _): "a release of partition \(partition)"
        case .load(let partition, _, _), .loadDue(let partition, _, _, _, _): "a load from partition \(partition)"
        case .save(let partition, _, _): "a save of partition \(partition)"
        }
    }
}
