import CBenchmarks

/// Where a producer puts events: the streams of a topic in Redis, or a topic of Kafka.
final class ProducerTarget {
    private enum Connection {
        /// `most` is how many entries a stream keeps, about; 0 keeps all.
        case redis(OpaquePointer, topic: String, most: UInt32)
        case kafka(OpaquePointer)
    }

    private let connection: Connection

    init(redis port: UInt16, topic: String, most: UInt32) throws(BenchmarkFault) {
        guard let redis = cbenchmarks_redis_connect(port) else {
            throw BenchmarkFault(problem: "no Redis answers on port \(port) of 127.0.0.1")
        }
        connection = .redis(redis, topic: topic, most: most)
    }

    init(kafka servers: String, topic: String, lingerMilliseconds: UInt32) throws(BenchmarkFault) {
        guard let kafka = cbenchmarks_kafka_connect(servers, topic, lingerMilliseconds) else {
            throw BenchmarkFault(problem: "librdkafka makes no producer for \(servers)")
        }
        connection = .kafka(kafka)
    }

    deinit {
        switch connection {
        case .redis(let redis, _, _): cbenchmarks_redis_close(redis)
        case .kafka(let kafka): cbenchmarks_kafka_close(kafka)
        }
    }

    /// Has an event sent with the next turn, or sooner. Entries of streams carry no key.
    func append(_ event: UnsafeRawBufferPointer, key: [UInt8], partition: UInt32) throws(BenchmarkFault) {
        let isTaken =
            switch connection {
            case .redis(let redis, let topic, let most):
                topic.withCString {
                    cbenchmarks_redis_append(redis, $0, partition, most, event.baseAddress, event.count)
                }
            case .kafka(let kafka):
                key.withUnsafeBytes {
                    cbenchmarks_kafka_append(
                        kafka, partition, $0.baseAddress, $0.count, event.baseAddress, event.count)
                }
            }
        guard isTaken else { throw refusal }
    }

    /// Redis has then answered all; Kafka's producer goes on by itself.
    func turn() throws(BenchmarkFault) {
        let isWell =
            switch connection {
            case .redis(let redis, _, _): cbenchmarks_redis_settle(redis)
            case .kafka(let kafka): cbenchmarks_kafka_turn(kafka)
            }
        guard isWell else { throw refusal }
    }

    func settle() throws(BenchmarkFault) {
        guard case .kafka(let kafka) = connection else { return try turn() }
        guard cbenchmarks_kafka_settle(kafka) else { throw refusal }
    }

    private var refusal: BenchmarkFault {
        switch connection {
        case .redis: BenchmarkFault(problem: "Redis refused an XADD, or went")
        case .kafka: BenchmarkFault(problem: "the broker took no record, or went")
        }
    }
}
