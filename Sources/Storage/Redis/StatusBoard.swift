import RedisClient

/// How one topic of a partition stands, as its owner sees it.
public struct PartitionStatus: Equatable, Sendable {
    /// Of the last record that was read; nil where the source has no such number, or none was.
    public var readOffset: Int64?
    /// The offset that the next record will have.
    public var endOffset: Int64?
    /// Records that were not read yet; nil where nobody knows.
    public var lagRecords: Int64?
    /// Since the oldest of them was written.
    public var lagMilliseconds: Int64 = 0
    /// Records read that the stored position has not passed.
    public var unsettledRecords: Int64 = 0
    /// How long ago the oldest record was applied that keeps the position from moving on.
    public var oldestUnsettledMilliseconds: Int64 = 0

    public init() {}
}

/// Where owners say each second how their partitions stand, so that anybody can see the whole group: what they have read is known to them alone.
/// For people only: nothing is decided by it, and whoever was owner last may have written last.
///
/// A partition's key ends by itself when its owner is silent.
public final class StatusBoard {
    private let client: RedisClient
    private let group: GroupSettings
    /// Where this member's API answers, host and port, for those who look for an owner; nil where it has none.
    public var address: String?
    private var keys: [PartitionKeys?]
    private var command = RedisCommand("HSET")

    static let keptMilliseconds: Int64 = 60_000

    public init(client: RedisClient, group: GroupSettings) {
        (self.client, self.group) = (client, group)
        keys = Array(repeating: nil, count: Int(group.partitions))
    }

    /// - Parameters:
    ///   - statuses: by topic.
    ///   - atMilliseconds: Unix time.
    public func write(_ statuses: [PartitionStatus], of partition: Int32, atMilliseconds: Int64) {
        let keys = keys(of: partition)
        command.reset("HSET")
        command.append(keys.status)
        command.append("@member")
        command.append(group.member)
        command.append("@at")
        command.append(atMilliseconds)
        if let address {
            command.append("@api")
            command.append(address)
        }
        for (topic, status) in zip(group.topics, statuses) {
            command.append(topic)
            command.append(status.text)
        }
        // It is made again in a second: what becomes of it is nobody's concern.
        client.send(command, slot: keys.slot) { _ in }
        command.reset("PEXPIRE")
        command.append(keys.status)
        command.append(Self.keptMilliseconds)
        client.send(command, slot: keys.slot) { _ in }
    }

    private func keys(of partition: Int32) -> PartitionKeys {
        if let keys = keys[Int(partition)] { return keys }
        let made = PartitionKeys(group: group, partition: partition)
        keys[Int(partition)] = made
        return made
    }
}

extension PartitionStatus {
    /// Six numbers, a dash where nobody knows.
    var text: String {
        func word(_ number: Int64?) -> String { number.map { "\($0)" } ?? "-" }
        return [
            readOffset, endOffset, lagRecords, lagMilliseconds, unsettledRecords, oldestUnsettledMilliseconds,
        ].map(word).joined(separator: " ")
    }

    /// - Returns: nil for what is no such text.
    init?(text: String) {
        let words = text.split(separator: " ")
        guard words.count == 6, words.allSatisfy({ $0 == "-" || Int64($0) != nil }) else { return nil }
        let numbers = words.map { Int64($0) }
        guard let lag = numbers[3], let unsettled = numbers[4], let oldest = numbers[5] else { return nil }
        (readOffset, endOffset, lagRecords) = (numbers[0], numbers[1], numbers[2])
        (lagMilliseconds, unsettledRecords, oldestUnsettledMilliseconds) = (lag, unsettled, oldest)
    }
}
