import Configuration

/// Which topic a command means: its flags say so, else the source of the configuration.
enum TopicPlace {
    case redis(RedisTopicPlace)
    case kafka(KafkaTopicPlace)

    static let topic = Flag(
        "--topic", value: "NAME", "The topic; in Redis its streams are NAME:{0}, NAME:{1} and so on")
    static let partitions = Flag(
        "--partitions", value: "N", "How many streams the topic has, 1 to 1024; Kafka says it by itself")
    static let bodyField = Flag(
        "--body-field", value: "NAME", "The field of an entry in Redis that holds the event; the default is event")
    static let passwordFile = Flag(
        "--password-file", value: "FILE",
        "The file that holds the password of Redis; or WAYPULSE_SOURCE_REDIS_PASSWORD_FILE")
    static let flags: [Flag] = [topic, partitions, bodyField, passwordFile, .config, .set]
    static let help = """
        A flag goes before the configuration's source.redis or source.kafka, whose logins, certificates and timeouts count in any case. A
        password is never part of the URL; a user of Redis is: redis://user@host, rediss://host for TLS,
        redis+sentinel://host,host/master, redis+cluster://host,host. Brokers are kafka://host,host; TLS and logins are options, such
        as --set source.kafka.tls=true.
        """

    /// - Parameters:
    ///   - url: the command's flag for the address.
    ///   - words: the command as one might type it, for who has forgotten a part.
    init(_ arguments: Arguments, url flag: Flag, command: String, words: String) throws {
        let address = arguments.value(flag)
        let isKafka =
            address.map { KafkaURL.isMeant(by: $0) }
            // What is wrong with the configuration is told below.
            ?? ((try? arguments.configuration(warns: false).source) == .kafka)
        self =
            isKafka
            ? .kafka(try KafkaTopicPlace(arguments, url: flag, command: command, words: words))
            : .redis(try RedisTopicPlace(arguments, url: flag, command: command, words: words))
    }

    var configuration: Configuration {
        switch self {
        case .redis(let place): place.configuration
        case .kafka(let place): place.configuration
        }
    }
}
