import RedisClient

/// Reads what a group keeps of one activity or partition, without being a member of it, and leaves no trace.
///
/// Belongs to the thread of its client's loop.
public final class CheckpointLook {
    private let client: RedisClient
    private let place: String
    private let group: GroupSettings
    private var keys: [PartitionKeys?]

    /// - Parameters:
    ///   - place: where Redis is, for people.
    ///   - group: whose `member` counts for nothing.
    public init(client: RedisClient, place: String, group: GroupSettings) {
        (self.client, self.place, self.group) = (client, place, group)
        keys = Array(repeating: nil, count: Int(group.partitions))
    }

    /// The checkpoint of an activity, as its owner saved it last; nil where none is kept.
    public func checkpoint(
        of identifier: [UInt8], partition: Int32, _ completion: @escaping (Result<[UInt8]?, StoreFault>) -> Void
    ) {
        let keys = keys(of: partition)
        var command = RedisCommand("GET")
        command.append(keys.activityPrefix + identifier)
        client.send(command, slot: keys.slot) { [client, place] outcome in
            let asked = "the checkpoint of an activity"
            completion(client.reply(outcome, place: place, asked: asked).map { $0.bytes.map { [UInt8]($0) } })
        }
    }

    /// Who holds the lease of a partition, and where its API answers if it says so; nil where nobody does.
    public func owner(
        of partition: Int32, _ completion: @escaping (Result<(member: String, address: String?)?, StoreFault>) -> Void
    ) {
        let keys = keys(of: partition)
        let asked = "the owner of partition \(partition)"
        var command = RedisCommand("GET")
        command.append(keys.lease)
        client.send(command, slot: keys.slot) { [client, place] outcome in
            let lease = client.reply(outcome, place: place, asked: asked).map(\.text)
            guard case .success(let member?) = lease else { return completion(lease.map { _ in nil }) }
            var command = RedisCommand("HMGET")
            command.append(keys.status)
            command.append("@member")
            command.append("@api")
            client.send(command, slot: keys.slot) { outcome in
                completion(
                    client.reply(outcome, place: place, asked: asked).map { reply in
                        // What the owner before said of itself is not this one's.
                        (member, reply[0]?.text == member ? reply[1]?.text : nil)
                    })
            }
        }
    }

    private func keys(of partition: Int32) -> PartitionKeys {
        if let keys = keys[Int(partition)] { return keys }
        let made = PartitionKeys(group: group, partition: partition)
        keys[Int(partition)] = made
        return made
    }
}
