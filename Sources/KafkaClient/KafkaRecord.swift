import CRdkafka

/// One record, lent as long as its batch.
public struct KafkaRecord {
    let message: UnsafePointer<rd_kafka_message_t>

    @inline(__always) public var offset: Int64 { message.pointee.offset }

    /// Nothing for a record without a value, as for one with an empty one; see `isTombstone`.
    @inline(__always) public var value: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: message.pointee.payload, count: message.pointee.len)
    }

    /// Nothing for a record without a key.
    @inline(__always) public var key: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: message.pointee.key, count: message.pointee.key_len)
    }

    public var isTombstone: Bool { message.pointee.payload == nil }

    /// Since 1970, by the producer's clock or the broker's as the topic is configured; nil where it has none.
    public var timestampMilliseconds: Int64? {
        var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let time = rd_kafka_message_timestamp(message, &type)
        return type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE || time < 0 ? nil : time
    }

    public var isTimestampOfBroker: Bool {
        var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        _ = rd_kafka_message_timestamp(message, &type)
        return type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME
    }

    /// The last header of that name; nil where there is none. Headers are parsed by librdkafka when one is first asked for.
    public func header(_ name: StaticString) -> UnsafeRawBufferPointer? {
        guard let headers else { return nil }
        var value: UnsafeRawPointer?
        var count = 0
        let found = name.withUTF8Buffer { name in
            name.withMemoryRebound(to: CChar.self) {
                rd_kafka_header_get_last(headers, $0.baseAddress!, &value, &count)
            }
        }
        return found == RD_KAFKA_RESP_ERR_NO_ERROR ? UnsafeRawBufferPointer(start: value, count: count) : nil
    }

    /// Each header in its order. A value that is null comes as an empty one.
    public func forEachHeader(_ body: (UnsafePointer<CChar>, UnsafeRawBufferPointer) -> Void) {
        guard let headers else { return }
        var place = 0
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var count = 0
        while rd_kafka_header_get_all(headers, place, &name, &value, &count) == RD_KAFKA_RESP_ERR_NO_ERROR, let name {
            body(name, UnsafeRawBufferPointer(start: value, count: count))
            place += 1
        }
    }

    private var headers: OpaquePointer? {
        var headers: OpaquePointer?
        return rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR ? headers : nil
    }
}
