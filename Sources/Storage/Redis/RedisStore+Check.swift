import Flow
import RedisClient

/// What stands between a member and its group, found before it claims anything.
public enum StoreCheck: Sendable {
    /// Each warning says what may go wrong, where, and what to do.
    case passed(warnings: [String])
    case refused(StoreFault)
}

extension RedisStore {
    /// Looks whether this member fits its group and Redis lets it work, and writes the group's shape down where it is new. Asked before
    /// anything is claimed, and again after partitions were lost: Redis may have come back with other data, or none.
    public func check(_ completion: @escaping (StoreCheck) -> Void) {
        StoreChecking(store: self, completion).askRights()
    }
}

/// One check, step by step; the steps keep it alive.
private final class StoreChecking {
    private let store: RedisStore
    private let completion: (StoreCheck) -> Void
    private var othersLive = false
    private var group: GroupSettings { store.group }
    private var keys: GroupKeys { store.call.groupKeys }

    /// The most partitions that a configuration may have: streams are looked for up to here.
    private static let mostPartitions: Int32 = 1_024

    init(store: RedisStore, _ completion: @escaping (StoreCheck) -> Void) {
        self.store = store
        self.completion = completion
    }

    func askRights() {
        let keys = store.call.keys(of: 0)
        run(.rights, keys.probes, keys.slot, "to try each command that Waypulse uses") { check, reply in
            guard let command = reply[0]?.text, let error = reply[1]?.text else {
                check.askNext()
                return
            }
            check.refuse(StoreFault(refusal: error, to: "the command \(command) in a script", place: check.store.place))
        }
    }

    private func askNext() {
        switch group.source {
        case .streams: askReading()
        case .topics: askMembers()
        }
    }

    /// Tries what reading takes, changing nothing: whoever may not read would keep partitions from members who may.
    private func askReading() {
        let probes = group.topics.flatMap { topic -> [(stream: String, words: [String])] in
            let stream = PartitionKeys.stream(topic, 0)
            return [
                (stream, ["XINFO", "GROUPS", stream]), (stream, ["XREAD", "COUNT", "1", "STREAMS", stream, "$"]),
                (stream, ["XRANGE", stream, "-", "+", "COUNT", "1"]),
                // A group of a name that nobody would give: that there is none is told only to who may ask.
                (stream, ["XGROUP", "SETID", stream, "\(group.name):none", "0"]),
            ]
        }
        var open = probes.count
        var failed: StoreFault?
        for (stream, words) in probes {
            var command = RedisCommand(words[0])
            for argument in words.dropFirst() { command.append(argument) }
            store.client.send(command, slot: HashSlot(of: stream)) { [self] outcome in
                if case .refused(let refusal) = outcome, refusal.code == "NOPERM" {
                    let asked = words.joined(separator: " ")
                    failed = failed ?? StoreFault(refusal: "\(refusal)", to: asked, place: store.place)
                }
                open -= 1
                guard open == 0 else { return }
                if let failed { refuse(failed) } else { askMembers() }
            }
        }
    }

    private func askMembers() {
        run(.members, [keys.members], keys.membersSlot, "the question who lives in the group") { check, reply in
            check.othersLive = reply.contains { $0.text != check.group.member }
            check.askShape(writes: false) { check in
                switch check.group.source {
                case .streams: check.askStreams()
                case .topics: check.writeShape()
                }
            }
        }
    }

    /// Written once all else fits: a member whose settings are wrong would leave a shape that those whose are right do not fit.
    private func askShape(writes: Bool, _ next: @escaping (StoreChecking) -> Void) {
        let arguments = ["\(group.partitions)", group.topicsText, othersLive ? "1" : "0", writes ? "1" : "0"]
        run(.shape, [keys.shape], keys.shapeSlot, "the question what shape the group has", arguments) { check, reply in
            guard let partitions = reply[0]?.text, let topics = reply[1]?.text else {
                next(check)
                return
            }
            check.refuse(check.otherShape(partitions: partitions, topics: topics))
        }
    }

    private func otherShape(partitions: String, topics: String) -> StoreFault {
        let name = group.name
        let anew =
            "begin anew: stop all members and remove the group with its checkpoints: redis-cli --scan --pattern '\(name):*' | xargs redis-cli unlink"
        let options = group.source.options
        let remedy =
            if partitions == "\(group.partitions)" {
                """
                Give all members the same \(options).topics in that order; a topic is added behind the others, with all members stopped. To drop one \
                or change their order, give this member another group (\(options).group), or \(anew).
                """
            } else if group.source == .topics {
                """
                Where the topics were given more partitions, keys lie in others than before, and checkpoints with them: make new topics with as many \
                partitions, or give all members another group (source.kafka.group), or \(anew).
                """
            } else {
                "Set source.redis.partitions to \(partitions), or give this member another group (source.redis.group), or \(anew)."
            }
        return StoreFault(
            .misconfigured,
            """
            Group \(name) in Redis at \(store.place) has \(partitions) partitions of the topics \(topics), and this member is set to \
            \(group.partitions) of \(group.topicsText). \(remedy)
            """)
    }

    /// A stream beyond the last partition: its producer divides by another number, and each key is in another place.
    private func askStreams() {
        var open = 0
        var last: (topic: String, partition: Int32)?
        var failed: StoreFault?
        for topic in group.topics {
            for partition in group.partitions..<max(group.partitions, Self.mostPartitions) {
                let stream = PartitionKeys.stream(topic, partition)
                open += 1
                store.client.send(RedisCommand("EXISTS", stream), slot: HashSlot(of: stream)) { [self] outcome in
                    switch store.reply(outcome, asked: "the question whether the stream \(stream) exists") {
                    case .success(let reply):
                        if reply.integer == 1, partition > last?.partition ?? -1 { last = (topic, partition) }
                    case .failure(let fault): failed = failed ?? fault
                    }
                    open -= 1
                    if open == 0 { judgeStreams(last, failed) }
                }
            }
        }
        if open == 0 { writeShape() }
    }

    private func judgeStreams(_ last: (topic: String, partition: Int32)?, _ failed: StoreFault?) {
        if let failed { return refuse(failed) }
        guard let last else { return writeShape() }
        refuse(
            StoreFault(
                .misconfigured,
                """
                Redis at \(store.place) has the stream \(last.topic):{\(last.partition)}, and source.redis.partitions is \(group.partitions): \
                its producers divide by \(last.partition + 1) or more, so that events of one activity would have two owners. Set \
                source.redis.partitions to the number that they use, or remove the stream if it is left over.
                """))
    }

    private func writeShape() {
        askShape(writes: true) { $0.askInformation() }
    }

    private func askInformation() {
        store.client.send(RedisCommand("INFO"), slot: keys.shapeSlot) { [self] outcome in
            switch outcome {
            case .reply(let reply):
                completion(.passed(warnings: RedisInformation(reply.text ?? "").warnings(place: store.place)))
            case .refused(let refusal):
                completion(
                    .passed(warnings: [
                        """
                        Redis at \(store.place) does not tell how it keeps data (INFO: \(refusal)). See to it that maxmemory-policy is \
                        noeviction and appendonly is yes.
                        """
                    ]))
            case .lost, .unsent:
                if case .failure(let fault) = store.reply(outcome, asked: "INFO") { refuse(fault) }
            }
        }
    }

    private func refuse(_ fault: StoreFault) { completion(.refused(fault)) }

    private func run(
        _ script: Script, _ keys: [[UInt8]], _ slot: HashSlot, _ asked: String, _ arguments: [String] = [],
        _ next: @escaping (StoreChecking, RedisReply) -> Void
    ) {
        var command = RedisCommand("EVAL")
        command.append(script.text)
        command.append(Int64(keys.count))
        for key in keys { command.append(key) }
        for argument in arguments { command.append(argument) }
        store.client.send(command, slot: slot) { [self] outcome in
            switch store.reply(outcome, asked: asked) {
            case .success(let reply): next(self, reply)
            case .failure(let fault): refuse(fault)
            }
        }
    }
}
