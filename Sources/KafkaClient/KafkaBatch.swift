import CRdkafka

/// Records of one partition, lent by librdkafka until they are given back. It serves again and again.
///
/// Whoever holds on to one keeps the client that it came from from being freed.
public final class KafkaBatch {
    let messages: UnsafeMutableBufferPointer<UnsafeMutablePointer<rd_kafka_message_t>?>
    @exclusivity(unchecked) public internal(set) var count = 0

    /// - Parameter capacity: the most records that one read takes.
    public init(capacity: Int) {
        messages = .allocate(capacity: max(1, capacity))
        messages.initialize(repeating: nil)
    }

    deinit {
        giveBack()
        messages.deallocate()
    }

    public var capacity: Int { messages.count }
    public var isEmpty: Bool { count == 0 }

    @inline(__always) public subscript(place: Int) -> KafkaRecord {
        precondition(place < count)
        return KafkaRecord(message: UnsafePointer(messages[place].unsafelyUnwrapped))
    }

    /// All of them; none may be looked at after this.
    public func giveBack() {
        for place in 0..<count { rd_kafka_message_destroy(messages[place]) }
        count = 0
    }
}
