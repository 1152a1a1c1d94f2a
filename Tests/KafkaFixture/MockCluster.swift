import CRdkafka

/// librdkafka's cluster of brokers inside this process, on loopback. What it gets right and what not stands in its rdkafka_mock.h; groups
/// take their time: the first round of one waits three seconds.
public final class MockCluster {
    private let client: OpaquePointer
    private let cluster: OpaquePointer

    public init(brokers: Int = 1) {
        let configuration = rd_kafka_conf_new()!
        var says = [CChar](repeating: 0, count: 256)
        rd_kafka_conf_set(configuration, "log_level", "3", &says, says.count)
        client = rd_kafka_new(RD_KAFKA_PRODUCER, configuration, &says, says.count)!
        cluster = rd_kafka_mock_cluster_new(client, Int32(brokers))!
    }

    deinit {
        rd_kafka_mock_cluster_destroy(cluster)
        rd_kafka_destroy(client)
    }

    public var bootstrapServers: [String] {
        String(cString: rd_kafka_mock_cluster_bootstraps(cluster)).split(separator: ",").map(String.init)
    }

    public func make(topic: String, partitions: Int, replicas: Int = 1) {
        let code = rd_kafka_mock_topic_create(cluster, topic, Int32(partitions), Int32(replicas))
        precondition(code == RD_KAFKA_RESP_ERR_NO_ERROR, "\(topic): \(String(cString: rd_kafka_err2name(code)))")
    }

    /// What Metadata says of a topic.
    public func set(error: rd_kafka_resp_err_t, ofTopic topic: String) {
        rd_kafka_mock_topic_set_error(cluster, topic, error)
    }

    /// The next requests of a kind fail so, whoever asks.
    public func fail(_ request: MockRequest, _ errors: [rd_kafka_resp_err_t]) {
        rd_kafka_mock_push_request_errors_array(cluster, request.rawValue, errors.count, errors)
    }

    public func forgetFailures(of request: MockRequest) {
        rd_kafka_mock_clear_request_errors(cluster, request.rawValue)
    }

    /// Its connections are cut and none is taken; -1 stands for all brokers, which count from 1.
    public func takeDown(broker: Int32) { rd_kafka_mock_broker_set_down(cluster, broker) }
    public func bringUp(broker: Int32) { rd_kafka_mock_broker_set_up(cluster, broker) }

    public func move(leaderOf topic: String, _ partition: Int32, to broker: Int32) {
        rd_kafka_mock_partition_set_leader(cluster, topic, partition, broker)
    }

    public func move(coordinatorOf group: String, to broker: Int32) {
        rd_kafka_mock_coordinator_set(cluster, "group", group, broker)
    }

    public func setRoundTrip(_ milliseconds: Int32, broker: Int32) {
        rd_kafka_mock_broker_set_rtt(cluster, broker, milliseconds)
    }
}

/// Kinds of requests, by their number in the protocol.
public enum MockRequest: Int16, Sendable {
    case produce = 0
    case fetch = 1
    case listOffsets = 2
    case offsetCommit = 8
    case offsetFetch = 9
    case findCoordinator = 10
    case joinGroup = 11
    case heartbeat = 12
    case leaveGroup = 13
    case syncGroup = 14
    case initProducerId = 22
}
