/// What is wrong with Kafka: what, where, and what to do. Without passwords.
public struct KafkaFault: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        /// A setting that librdkafka does not take.
        case settings
        case unresolved, unreachable, timeout, tls, credentials
        case forbidden
        case unknownTopic, unknownPartition
        /// The offset is not there any more, or not yet.
        case outOfRange
        /// Another member has the same instance id.
        case fenced
        /// The member was taken for dead, or a rebalance overtook it: what was to be committed has a new owner.
        case stale
        case tooLarge
        /// It passes: a leader or coordinator moves, replicas are missing.
        case unavailable
        case refused
        case closed
    }

    public let kind: Kind
    /// With broker, topic or property.
    public let problem: String
    public let remedy: String
    /// The client is of no use any more.
    public var isFatal = false

    public init(_ kind: Kind, _ problem: String, remedy: String) {
        self.kind = kind
        self.problem = problem
        self.remedy = remedy
    }

    public var description: String { "\(problem); \(remedy)" }
}

/// How it stands with Kafka, for readiness and logs.
public enum KafkaStatus: Equatable, Sendable, CustomStringConvertible {
    case connected
    case connecting
    case failing(KafkaFault)

    var isFailing: Bool {
        if case .failing = self { true } else { false }
    }

    public var description: String {
        switch self {
        case .connected: "connected"
        case .connecting: "connecting"
        case .failing(let fault): fault.description
        }
    }
}
