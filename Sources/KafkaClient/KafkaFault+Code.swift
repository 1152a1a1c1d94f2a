import CRdkafka

extension KafkaFault {
    /// - Parameters:
    ///   - what: what could not be done, to go before "failed": "a look-up of topic rides".
    ///   - detail: what librdkafka says, where it says more than the code.
    static func of(_ code: rd_kafka_resp_err_t, _ what: String, detail: String? = nil) -> KafkaFault {
        let (kind, remedy) = verdict(code, detail ?? "")
        let says = detail ?? String(cString: rd_kafka_err2str(code))
        return KafkaFault(
            kind, "\(what) failed: \(says.trimmed) (\(String(cString: rd_kafka_err2name(code))))", remedy: remedy)
    }

    /// Frees the error.
    static func taking(_ error: OpaquePointer, _ what: String) -> KafkaFault {
        defer { rd_kafka_error_destroy(error) }
        return of(rd_kafka_error_code(error), what, detail: String(cString: rd_kafka_error_string(error)))
    }

    /// - Parameter detail: broken connections all come with the same code; the words say what broke them.
    private static func verdict(_ code: rd_kafka_resp_err_t, _ detail: String) -> (Kind, remedy: String) {
        switch code {
        case RD_KAFKA_RESP_ERR__RESOLVE:
            (.unresolved, "check the host name in bootstrapServers and the names that the brokers advertise")
        case RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
            brokenConnection(detail)
        case RD_KAFKA_RESP_ERR__SSL:
            (.tls, "check the authority file, certificate and key, and that the port speaks TLS")
        case RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
            RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM, RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE:
            (.credentials, "check mechanism, user name and password against the broker's listener")
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
            (.forbidden, "let this user Read and Describe the topic (Write, to produce) with kafka-acls")
        case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
            (.forbidden, "let this user Read the consumer group with kafka-acls")
        case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
            (
                .forbidden,
                "let this user IdempotentWrite on the cluster, or set the property enable.idempotence to false"
            )
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
            (
                .unknownTopic,
                "make the topic, or correct its name; a user without the right to Describe it sees the same"
            )
        case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
            (.unknownPartition, "check the topic's partition count")
        case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, RD_KAFKA_RESP_ERR__NO_OFFSET:
            (
                .outOfRange,
                "retention has removed it, or the topic was made anew: keep records longer, and choose where to go on"
            )
        case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, RD_KAFKA_RESP_ERR__FENCED:
            (.fenced, "give each member an instanceId of its own")
        case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
            RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST:
            (.stale, "nothing to do: the new owner goes on from the offset before")
        case RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED:
            (.stale, "give the process more CPU, or raise pollIntervalMax; the group is joined again")
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
            (.tooLarge, "raise the topic's max.message.bytes and the property message.max.bytes")
        case RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR__MSG_TIMED_OUT,
            RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
            (.timeout, "check that the brokers run and can be reached at the addresses that they advertise")
        case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
            RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE,
            RD_KAFKA_RESP_ERR_NOT_COORDINATOR, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
            RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND, RD_KAFKA_RESP_ERR__WAIT_COORD:
            (.unavailable, "wait, or see which broker is missing; it is tried again")
        case RD_KAFKA_RESP_ERR__DESTROY: (.closed, "nothing to do")
        case RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED:
            (.refused, "run fewer members, or raise the broker's group.max.size")
        case RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL:
            (
                .refused,
                "use the assignment of the members that run already; a group moves between range and cooperative-sticky with all stopped"
            )
        case RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT:
            (.settings, "choose a sessionTimeout that the brokers allow (group.min.session.timeout.ms … max)")
        default: (.refused, "see what Kafka says about it")
        }
    }

    private static func brokenConnection(_ detail: String) -> (Kind, remedy: String) {
        if detail.contains("Connection refused") {
            return (.unreachable, "check host and port in bootstrapServers, and that the broker runs and listens there")
        }
        if detail.contains("SSL") {
            return (.tls, "check the authority file, certificate and key, and that the port speaks TLS")
        }
        return (
            .unreachable,
            "check host and port in bootstrapServers, that the broker runs, and whether the port speaks TLS or SASL"
        )
    }

    /// Whether it says that no broker can be talked to, and so belongs into the status.
    static func isAboutConnections(_ code: rd_kafka_resp_err_t) -> Bool {
        switch code {
        case RD_KAFKA_RESP_ERR__RESOLVE, RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
            RD_KAFKA_RESP_ERR__SSL, RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
            RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM, RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE:
            true
        default: false
        }
    }

    static func property(_ key: String, _ says: String, isSecret: Bool) -> KafkaFault {
        // librdkafka quotes the value.
        let says = isSecret ? "its value is not taken" : says.trimmed
        return KafkaFault(
            .settings, "librdkafka refuses the property \(key): \(says)",
            remedy: "see CONFIGURATION.md of librdkafka \(String(cString: rd_kafka_version_str())) for what it may be")
    }
}

extension String {
    /// Without the line feed at the end of some of librdkafka's messages.
    var trimmed: String {
        var text = self[...]
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
