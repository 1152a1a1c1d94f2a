/// Some brokers of a cluster of Kafka, as a command's flag names them: `kafka://host[:port][,host…]`. Kafka has no such URLs of its own;
/// logins and certificates are options.
public struct KafkaURL: Sendable, Equatable {
    /// `host:port` each.
    public let bootstrapServers: [String]

    static let scheme = "kafka://"
    static let port = 9092

    public static func isMeant(by text: String) -> Bool { text.hasPrefix("kafka:") }

    /// - Throws: what is wrong. A text that may hold a password is never quoted.
    public init(parsing text: String) throws(Refusal) {
        guard text.hasPrefix(Self.scheme) else {
            throw Refusal(problem: "does not begin with kafka://", remedy: "write kafka://host:9092")
        }
        var rest = text.dropFirst(Self.scheme.count)
        guard !rest.contains("@") else {
            throw Refusal(
                problem: "holds a user",
                remedy: "leave it out, and set source.kafka.sasl.mechanism, .username and .passwordFile")
        }
        if rest.hasSuffix("/") { rest.removeLast() }
        var servers: [String] = []
        for host in rest.split(separator: ",", omittingEmptySubsequences: false) {
            let bracket = host.lastIndex(of: "]") ?? host.startIndex
            let hasPort = host[bracket...].contains(":")
            let server = hasPort ? String(host) : "\(host):\(Self.port)"
            guard TextRule.server.accepts(server) else {
                throw Refusal(
                    problem: host.isEmpty
                        ? "\"\(text)\" lacks a host"
                        : "\"\(host)\" in \"\(text)\" is not a host with or without a port",
                    remedy: "write for instance kafka://kafka-1.example:9092,kafka-2.example:9092")
            }
            servers.append(server)
        }
        bootstrapServers = servers
    }
}
