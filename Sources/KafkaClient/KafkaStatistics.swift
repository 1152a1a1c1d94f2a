/// What librdkafka says of itself each second, as far as somebody here wants to know (STATISTICS.md of librdkafka).
public struct KafkaStatistics: Equatable, Sendable {
    public struct Partition: Equatable, Sendable {
        public var partition: KafkaTopicPartition
        /// Fetched and not read yet.
        public var queuedRecords: Int64 = 0
        public var queuedBytes: Int64 = 0
        /// Nil where it is not known.
        public var lowOffset: Int64?
        public var highOffset: Int64?
        public var storedOffset: Int64?
        public var committedOffset: Int64?
        /// Whether there is a connection to the broker that leads it; nil where nobody knows who does.
        public var isLeaderUp: Bool?
        /// Number of that broker; −1 where nobody knows.
        public var leader: Int64 = -1
    }

    /// Without those that are roles and not brokers (the group's coordinator, addresses that were given).
    public var brokers = 0
    public var brokersUp = 0
    /// How long nothing has come from the group's coordinator; heartbeats are answered several times a session. Nil before it is known.
    public var coordinatorSilenceMilliseconds: Int64?
    /// Largest mean round trip of a broker.
    public var roundTripMicroseconds: Int64 = 0
    /// Records to be sent that are not acknowledged.
    public var waitingRecords: Int64 = 0
    public var rebalances: Int64 = 0
    public var partitions: [Partition] = []
    private var up: Set<Int64> = []

    /// - Returns: nil for what is no such text.
    init?(json: UnsafePointer<CChar>) {
        var reader = JSONReader(json)
        reader.object { key, reader in
            switch key {
            case "msg_cnt": waitingRecords = reader.integer() ?? 0
            case "brokers": reader.object { name, reader in readBroker(name, &reader) }
            case "topics": reader.object { name, reader in readTopic(name, &reader) }
            case "cgrp":
                reader.object { key, reader in
                    if key == "rebalance_cnt" { rebalances = reader.integer() ?? 0 } else { reader.skip() }
                }
            default: reader.skip()
            }
        }
        guard !reader.isBroken else { return nil }
        for place in partitions.indices where partitions[place].leader >= 0 {
            partitions[place].isLeaderUp = up.contains(partitions[place].leader)
        }
    }

    private mutating func readBroker(_ name: String, _ reader: inout JSONReader) {
        var isUp = false
        var (number, silence, roundTrip): (Int64, Int64, Int64) = (-1, -1, 0)
        reader.object { key, reader in
            switch key {
            case "nodeid": number = reader.integer() ?? -1
            case "state": isUp = reader.string() == "UP"
            case "rxidle": silence = reader.integer() ?? -1
            case "rtt":
                reader.object { key, reader in
                    if key == "avg" { roundTrip = reader.integer() ?? 0 } else { reader.skip() }
                }
            default: reader.skip()
            }
        }
        if name == "GroupCoordinator" {
            coordinatorSilenceMilliseconds = silence >= 0 ? silence / 1_000 : nil
        } else if number >= 0 {
            brokers += 1
            if isUp {
                brokersUp += 1
                up.insert(number)
            }
        }
        roundTripMicroseconds = max(roundTripMicroseconds, roundTrip)
    }

    private mutating func readTopic(_ topic: String, _ reader: inout JSONReader) {
        reader.object { key, reader in
            guard key == "partitions" else { return reader.skip() }
            reader.object { number, reader in
                guard let number = Int32(number), number >= 0 else { return reader.skip() }
                var partition = Partition(partition: KafkaTopicPartition(topic, number))
                reader.object { key, reader in
                    switch key {
                    case "leader": partition.leader = reader.integer() ?? -1
                    case "fetchq_cnt": partition.queuedRecords = reader.integer() ?? 0
                    case "fetchq_size": partition.queuedBytes = reader.integer() ?? 0
                    case "lo_offset": partition.lowOffset = reader.offset()
                    case "hi_offset": partition.highOffset = reader.offset()
                    case "stored_offset": partition.storedOffset = reader.offset()
                    case "committed_offset": partition.committedOffset = reader.offset()
                    default: reader.skip()
                    }
                }
                partitions.append(partition)
            }
        }
    }
}

extension JSONReader {
    /// librdkafka has negative numbers for what it does not know.
    fileprivate mutating func offset() -> Int64? { integer().flatMap { $0 >= 0 ? $0 : nil } }
}
