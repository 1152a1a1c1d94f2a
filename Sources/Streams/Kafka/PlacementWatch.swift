import KafkaClient

/// Notices that a topic's producers place keys in different ways, so that one activity may lie in two partitions and have two owners: librdkafka
/// hashes with CRC32 and Java with murmur2, each by default.
///
/// One record of each read is looked at: where the two ways differ, its partition tells which one its producer has. That costs a read two hashes, and
/// nothing a record; a topic with both kinds of producers is found within some reads.
public final class PlacementWatch {
    /// A record that says how its producer places keys.
    public struct Evidence: Equatable, Sendable {
        public let hash: KeyPlacement.Hash
        public let partition: Int32
        public let offset: Int64
    }

    public enum Finding: Equatable, Sendable {
        /// Both ways were seen in one topic.
        case mixed(topic: String, first: Evidence, other: Evidence)
        /// A record has no key: nothing keeps the events of its activity together.
        case keyless(topic: String, partition: Int32, offset: Int64)
    }

    private let topics: [String]
    private let placements: [KeyPlacement]
    /// By source.
    private var evidence: [Evidence?]
    private var isKeylessTold: [Bool]
    private var isMixedTold: [Bool]
    /// Records that were looked at and lie where other producers of the topic would not have put them, or have no key.
    public private(set) var conflicts = 0
    /// Told once for each topic.
    public var onFinding: ((Finding) -> Void)?

    /// - Parameter partitions: of each topic, at least 1.
    public init(topics: [String], partitions: Int) {
        self.topics = topics
        placements = KeyPlacement.Hash.allCases.map { KeyPlacement(partitions: Int32(partitions), hash: $0) }
        evidence = topics.map { _ in nil }
        isKeylessTold = topics.map { _ in false }
        isMixedTold = isKeylessTold
    }

    func look(at record: KafkaRecord, source: Int, partition: Int32) {
        look(at: record.key, source: source, partition: partition, offset: record.offset)
    }

    func look(at key: UnsafeRawBufferPointer, source: Int, partition: Int32, offset: Int64) {
        guard !key.isEmpty else {
            conflicts += 1
            if !isKeylessTold[source] {
                isKeylessTold[source] = true
                onFinding?(.keyless(topic: topics[source], partition: partition, offset: offset))
            }
            return
        }
        let fitting = placements.filter { $0.partition(of: key) == partition }
        // None: a way of its producer's own, in which all may agree. All: it tells nothing.
        guard fitting.count == 1, let hash = fitting.first?.hash else { return }
        let found = Evidence(hash: hash, partition: partition, offset: offset)
        guard let first = evidence[source] else {
            evidence[source] = found
            return
        }
        guard first.hash != hash else { return }
        conflicts += 1
        if !isMixedTold[source] {
            isMixedTold[source] = true
            onFinding?(.mixed(topic: topics[source], first: first, other: found))
        }
    }
}
