import KafkaClient

// A dead letter as a message of Kafka: key, value and headers of the record untouched, and beside them headers that begin with
// `DeadLetter.prefix`. A record without a value (a tombstone) and one with an empty value are not told apart: neither is an event.

extension DeadLetter {
    /// From a message in a topic of dead letters; nil where it is none.
    init?(_ message: KafkaRecord) {
        var own: [Substring: [UInt8]] = [:]
        var others: [Header] = []
        message.forEachHeader { name, value in
            let name = String(cString: name)
            if name.hasPrefix(Self.prefix) {
                own[name.dropFirst(Self.prefix.count)] = Array(value)
            } else {
                others.append(Header(name: name, value: Array(value)))
            }
        }
        self.init(marks: own, value: Array(message.value))
        headers = others
        if stage != .push, !message.key.isEmpty { key = Array(message.key) }
    }

    /// The letter's own headers, behind those of its record.
    var messageHeaders: KafkaHeaders { messageHeaders(with: marks + history) }

    /// Those of its record, when it is published again.
    var recordHeaders: KafkaHeaders { messageHeaders(with: history) }

    private func messageHeaders(with marks: [(name: String, value: [UInt8])]) -> KafkaHeaders {
        let all = KafkaHeaders()
        for header in headers { header.value.withUnsafeBytes { all.append(header.name, $0) } }
        for mark in marks { mark.value.withUnsafeBytes { all.append(mark.name, $0) } }
        return all
    }

    /// An update lies by its activity.
    var messageKey: [UInt8]? { stage == .push ? activityIdentifier.map { Array($0.utf8) } : key }
}

extension KafkaProducer {
    /// - Returns: false where there is no room.
    func produce(
        to topic: String, partition: Int32?, key: [UInt8]?, value: [UInt8], headers: KafkaHeaders? = nil, tag: UInt = 0
    ) throws(KafkaFault) -> Bool {
        var outcome: Result<Bool, KafkaFault> = .success(false)
        (key ?? []).withUnsafeBytes { keyBytes in
            value.withUnsafeBytes { valueBytes in
                do throws(KafkaFault) {
                    outcome = .success(
                        try produce(
                            to: topic, partition: partition, key: key == nil ? nil : keyBytes,
                            value: value.isEmpty ? nil : valueBytes, headers: headers, tag: tag))
                } catch {
                    outcome = .failure(error)
                }
            }
        }
        return try outcome.get()
    }
}
