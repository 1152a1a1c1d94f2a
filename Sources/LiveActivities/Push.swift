import Telemetry

/// One push to a Live Activity: everything its payload needs. Times are Unix seconds.
///
/// Source of the rules: Apple, "Starting and updating Live Activities with ActivityKit push notifications".
public struct Push: Sendable {
    public enum Event: UInt8, Sendable, CaseIterable {
        case start, update, end
    }

    /// Where it goes; the whole body may have 4096 bytes for a device, 5120 for a broadcast.
    public enum Medium: Sendable {
        case device, broadcast
    }

    public var event: Event
    public var medium: Medium
    public var activityIdentifier: String
    /// Name of the Swift type of the attributes, exactly as the app declares it. A start needs it.
    public var attributesType: String?
    /// Written on a start alone; on other events counted towards what the phone holds of the activity.
    public var attributes: JSONObject?
    /// The only thing that orders updates on the phone.
    public var timestampSeconds: Int64
    /// The complete state: a phone merges nothing.
    public var contentState: ContentState
    /// Never written on an end.
    public var staleDateSeconds: Int64?
    /// Written on an end alone.
    public var dismissal: Dismissal?
    public var relevanceScore: Double?
    public var alert: Alert?
    /// Base64 of the broadcast channel that a started activity is to follow. Nil: it is asked for an update token instead.
    public var followedChannel: String?

    public init(
        event: Event, medium: Medium = .device, activityIdentifier: String, attributesType: String? = nil,
        attributes: JSONObject? = nil, timestampSeconds: Int64, contentState: ContentState,
        staleDateSeconds: Int64? = nil, dismissal: Dismissal? = nil, relevanceScore: Double? = nil,
        alert: Alert? = nil, followedChannel: String? = nil
    ) {
        self.event = event
        self.medium = medium
        self.activityIdentifier = activityIdentifier
        self.attributesType = attributesType
        self.attributes = attributes
        self.timestampSeconds = timestampSeconds
        self.contentState = contentState
        self.staleDateSeconds = staleDateSeconds
        self.dismissal = dismissal
        self.relevanceScore = relevanceScore
        self.alert = alert
        self.followedChannel = followedChannel
    }
}
