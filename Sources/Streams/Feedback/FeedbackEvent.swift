import Pacing
import Telemetry

/// What became of an activity or a push, for the services that published its events: so they can mark tokens inactive in a database of their own.
public struct FeedbackEvent: Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        /// APNs took a push, which is no proof of display.
        case pushAccepted = "push.accepted"
        /// A push that will not be repeated: APNs refused it for good, or it was none that APNs or a phone would have taken.
        case pushRefused = "push.refused"
        /// A token that nothing is sent to any more, until the app reports it again.
        case tokenGone = "token.gone"
        /// An activity is over, whether or not its phone could be told.
        case activityEnded = "activity.ended"
        /// Whether a push began an activity is not known, and it is not sent again.
        case startUnknown = "start.unknown"
    }

    /// What became of the push that was to tell an end.
    public enum Outcome: String, Sendable {
        case accepted, refused, unsendable
    }

    public var kind: Kind
    public var activityIdentifier: String
    public var userIdentifier: String?
    /// As it is configured.
    public var app: String
    /// When it was known here, Unix milliseconds.
    public var timestampMilliseconds: Int64
    /// Of the push: start, update or end.
    public var event: String?
    public var sequence: UInt64?
    public var apnsIdentifier: APNsIdentifier?
    /// APNs' answer.
    public var status: Int?
    /// APNs' word, or Waypulse's where nothing was sent.
    public var reason: String?
    public var outcome: Outcome?
    public var target: PushTarget?
    /// Unix milliseconds.
    public var registeredAtMilliseconds: Int64?
    /// A registration at this time or before is dead, Unix milliseconds.
    public var goneAtMilliseconds: Int64?

    public init(_ kind: Kind, activityIdentifier: String, app: String, timestampMilliseconds: Int64) {
        (self.kind, self.activityIdentifier, self.app) = (kind, activityIdentifier, app)
        self.timestampMilliseconds = timestampMilliseconds
    }
}
