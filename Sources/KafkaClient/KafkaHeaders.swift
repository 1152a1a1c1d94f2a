import CRdkafka

/// Headers of a record to be sent; they may go with many.
public final class KafkaHeaders {
    private let pointer: OpaquePointer

    public init() { pointer = rd_kafka_headers_new(8) }

    deinit { rd_kafka_headers_destroy(pointer) }

    public func append(_ name: String, _ value: UnsafeRawBufferPointer) {
        rd_kafka_header_add(pointer, name, -1, value.baseAddress, value.count)
    }

    public func append(_ name: String, _ value: String) {
        var value = value
        value.withUTF8 { append(name, UnsafeRawBufferPointer($0)) }
    }

    /// For one record, which keeps them.
    func copy() -> OpaquePointer { rd_kafka_headers_copy(pointer) }
}
