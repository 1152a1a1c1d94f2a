/// An answer of APNs to a device push.
///
/// Source: Apple, "Handling notification responses from APNs".
public struct ProviderAnswer: Equatable, Sendable {
    public let status: Int
    /// Nil on success, and where the body told none.
    public let reason: APNsReason?
    /// With 410: when APNs found the token invalid, Unix milliseconds.
    public let timestampMilliseconds: Int64?
    /// Not documented for APNs; honoured as a lower bound if it ever comes.
    public let retryAfterSeconds: Int64?

    public init(
        status: Int, reason: APNsReason? = nil, timestampMilliseconds: Int64? = nil, retryAfterSeconds: Int64? = nil
    ) {
        self.status = status
        self.reason = reason
        self.timestampMilliseconds = timestampMilliseconds
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// For a dead letter: the reason as it came, else the status.
    public var name: String { reason?.name ?? "status \(status)" }

    /// A closed set, fit to label a metric: a documented reason, else the status class.
    public var label: String {
        switch reason {
        case nil, .unknown: (1...5).contains(status / 100) ? "\(status / 100)xx" : "other"
        case .some(let reason): reason.label
        }
    }

    public var isAccepted: Bool { (200...299).contains(status) }
}
