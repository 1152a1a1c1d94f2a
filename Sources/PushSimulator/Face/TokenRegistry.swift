/// The device tokens that APNs knows.
public struct TokenRegistry: Sendable {
    public enum Kind: String, Sendable { case update, start }

    public struct Record: Sendable {
        public var kind: Kind
        public var topic: String
        public var environment: APNsEnvironment
        /// The activity that an update token belongs to, where the simulator knows it.
        public var activityIdentifier: String?
        /// Unix milliseconds on the phones' clock.
        public internal(set) var endedAtMilliseconds: Int64?
        public internal(set) var replacedAtMilliseconds: Int64?
    }

    private var records: [String: Record] = [:]

    public init() {}

    public var count: Int { records.count }

    /// - Parameter token: hex, in either case.
    public subscript(token: String) -> Record? { records[token.lowercased()] }

    /// A registration of a token that has ended makes it alive again.
    public mutating func register(
        _ token: String, kind: Kind, topic: String, environment: APNsEnvironment = .production,
        activityIdentifier: String? = nil
    ) {
        records[token.lowercased()] = Record(
            kind: kind, topic: topic, environment: environment, activityIdentifier: activityIdentifier)
    }

    public mutating func end(_ token: String, atMilliseconds: Int64) {
        records[token.lowercased()]?.endedAtMilliseconds = atMilliseconds
    }

    public mutating func replace(_ token: String, atMilliseconds: Int64) {
        records[token.lowercased()]?.replacedAtMilliseconds = atMilliseconds
    }
}
