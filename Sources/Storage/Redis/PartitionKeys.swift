import RedisClient

/// The keys of one partition, all of them under the hash tag `{i}`, so that a Redis Cluster keeps them on one node and one script may
/// touch them all.
struct PartitionKeys {
    let lease: [UInt8]
    let epoch: [UInt8]
    let cursor: [UInt8]
    let due: [UInt8]
    let status: [UInt8]
    /// What stands before an activity's id in the key of its checkpoint.
    let activityPrefix: [UInt8]
    /// What stands before a subject's id in the key of the set of its followers.
    let followerPrefix: [UInt8]
    /// In the order of the topics; none where they are not in Redis.
    let streams: [[UInt8]]
    let slot: HashSlot
    /// Two that nobody uses.
    let probes: [[UInt8]]

    init(group: GroupSettings, partition: Int32) {
        let prefix = "\(group.name):{\(partition)}:"
        func key(_ name: String) -> [UInt8] { Array((prefix + name).utf8) }
        slot = HashSlot(of: prefix)
        lease = key("lease")
        epoch = key("epoch")
        cursor = key("cursor")
        due = key("due")
        status = key("status")
        activityPrefix = key("a:")
        followerPrefix = key("f:")
        streams = group.source == .streams ? group.topics.map { Array(Self.stream($0, partition).utf8) } : []
        probes = [key("probe:1"), key("probe:2")]
    }

    static func stream(_ topic: String, _ partition: Int32) -> String { "\(topic):{\(partition)}" }
}

/// The keys that a group has once. They have no hash tag, and no script touches two of them.
struct GroupKeys {
    let members: [UInt8]
    let membersSlot: HashSlot
    let shape: [UInt8]
    let shapeSlot: HashSlot

    init(group: GroupSettings) {
        members = Array("\(group.name):members".utf8)
        membersSlot = HashSlot(of: "\(group.name):members")
        shape = Array("\(group.name):shape".utf8)
        shapeSlot = HashSlot(of: "\(group.name):shape")
    }
}
