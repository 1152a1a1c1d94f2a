import Pacing
import RedisClient

/// How one partition of a group stands, seen from outside.
public struct PartitionLook: Sendable {
    /// Who holds its lease; nil for nobody.
    public var owner: String?
    /// By topic, how far it is settled; nil where nobody has read it.
    public var positions: [SettledPosition?] = []
    /// By topic, what its owner said last; nil where it has been silent for a minute.
    public var statuses: [PartitionStatus?] = []
    /// How long ago that was.
    public var statusAgeMilliseconds: Int64?
}

/// Looks at a group without being a member of it, and leaves no trace.
public final class GroupLook {
    private let client: RedisClient
    private let group: GroupSettings
    private let place: String
    private var looks: [PartitionLook]
    private var open = 0
    private var fault: StoreFault?

    /// - Parameters:
    ///   - group: whose `member` counts for nothing.
    ///   - place: where Redis is, for people.
    public init(client: RedisClient, place: String, group: GroupSettings) {
        (self.client, self.place, self.group) = (client, place, group)
        looks = Array(repeating: PartitionLook(), count: Int(group.partitions))
    }

    /// - Parameter completion: is called once, with one look a partition.
    public func look(_ completion: @escaping (Result<[PartitionLook], StoreFault>) -> Void) {
        for partition in 0..<Int(group.partitions) {
            let keys = PartitionKeys(group: group, partition: Int32(partition))
            ask("GET", keys.lease, [], keys.slot, completion) { $0.looks[partition].owner = $1.text }
            ask("HMGET", keys.cursor, group.topics, keys.slot, completion) { look, reply in
                look.looks[partition].positions = reply.map {
                    $0.bytes.flatMap { SettledPosition($0, look.group.source) }
                }
            }
            ask("HMGET", keys.status, group.topics, keys.slot, completion) { look, reply in
                look.looks[partition].statuses = reply.map { $0.text.flatMap { PartitionStatus(text: $0) } }
            }
            // By how much of its time has gone: no clock but that of Redis has a part in it.
            ask("PTTL", keys.status, [], keys.slot, completion) { look, reply in
                guard let rest = reply.integer, rest >= 0 else { return }
                look.looks[partition].statusAgeMilliseconds = max(0, StatusBoard.keptMilliseconds - rest)
            }
        }
    }

    private func ask(
        _ words: String, _ key: [UInt8], _ arguments: [String], _ slot: HashSlot,
        _ completion: @escaping (Result<[PartitionLook], StoreFault>) -> Void,
        _ take: @escaping (GroupLook, RedisReply) -> Void
    ) {
        open += 1
        var command = RedisCommand(words)
        command.append(key)
        for argument in arguments { command.append(argument) }
        client.send(command, slot: slot) { [self] outcome in
            switch outcome {
            case .reply(let reply): take(self, reply)
            case .refused(let refusal):
                fault = fault ?? StoreFault(refusal: "\(refusal)", to: words, place: place)
            case .lost, .unsent:
                fault = fault ?? StoreFault(.unavailable, "Redis at \(place) did not answer \(words).")
            }
            open -= 1
            if open == 0 { completion(fault.map { .failure($0) } ?? .success(looks)) }
        }
    }
}
