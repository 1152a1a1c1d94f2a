import Telemetry

/// One request as the simulator saw it. Tokens stand in it as fingerprints.
public struct JournalEntry: Sendable, Equatable {
    /// What became of the request as HTTP/2 sees it.
    public enum Fate: String, Sendable {
        /// An answer was written and nothing is known to have stopped it.
        case answered
        /// It was processed (`status` says how), but its answer did not reach the client.
        case lost
        /// The client was told that it was not processed: `REFUSED_STREAM`, or above the last-stream-id of a GOAWAY.
        case unprocessed
    }

    /// Counts up from 0.
    public var number: Int
    /// Unix milliseconds on the phones' clock: in a replay the recording's.
    public var atMilliseconds: Int64
    /// Unix milliseconds.
    public var realMilliseconds: Int64
    public var connection: UInt64 = 0
    public var stream: Int32 = 0
    public var tokenFingerprint: String = ""
    public var activityIdentifier: String?
    /// The token in it replaced by its fingerprint.
    public var path: String = ""
    public var priority: Int?
    public var expirationSeconds: Int64?
    /// As it was sent.
    public var apnsIdentifier: String?
    public var status: Int = 0
    public var reason: String?
    /// The answer was ordered by a fault setting.
    public var isInjected = false
    public var fate = Fate.answered
    public var event: String?
    public var timestampSeconds: Int64?
    public var sequence: Int64?
    public var contentState: JSONObject?
    public var hasAlert = false
    public var staleDateSeconds: Int64?
    public var dismissalDateSeconds: Int64?
    public var bodyBytes: Int = 0
    public var warnings: [String] = []
    /// Only of what was accepted.
    public var verdict: Verdict?

    public init(number: Int, atMilliseconds: Int64, realMilliseconds: Int64) {
        self.number = number
        self.atMilliseconds = atMilliseconds
        self.realMilliseconds = realMilliseconds
    }

    /// What the request says by itself.
    init(
        _ request: FaceRequest, number: Int, connection: UInt64, stream: Int32, sequenceField: FieldPath,
        at instant: FaceInstant
    ) {
        self.init(
            number: number, atMilliseconds: instant.phoneMilliseconds, realMilliseconds: instant.realMilliseconds)
        self.connection = connection
        self.stream = stream
        let token = request.deviceToken
        tokenFingerprint = token.isEmpty ? "" : Fingerprint.of(token: token)
        path = token.isEmpty ? request.path : "\(FaceRequest.devicePath)/\(tokenFingerprint)"
        priority = request["apns-priority"].flatMap { Int($0) }
        expirationSeconds = request["apns-expiration"].flatMap { Int64($0) }
        apnsIdentifier = request["apns-id"]
        bodyBytes = request.body.count
        let push = request.content
        event = push.event?.rawValue
        timestampSeconds = push.timestampSeconds.flatMap { Int64(exactly: $0.rounded(.down)) }
        contentState = push.contentState
        sequence = push.contentState
            .flatMap { ContentState($0)[sequenceField]?.asDouble }.flatMap { Int64(exactly: $0) }
        hasAlert = push.hasAlert
        staleDateSeconds = push.staleDateSeconds.flatMap { Int64(exactly: $0.rounded(.down)) }
        dismissalDateSeconds = push.dismissalDateSeconds.flatMap { Int64(exactly: $0.rounded(.down)) }
    }

    /// Whether the phone can have been told by it.
    public var isAccepted: Bool { status == 200 && fate != .unprocessed }
}
