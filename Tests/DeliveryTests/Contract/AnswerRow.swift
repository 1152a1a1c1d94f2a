import LiveActivities
import Testing

/// One answer of section 10, and what has to come of it.
struct AnswerRow: Sendable, CustomTestStringConvertible {
    /// What becomes of the update that was answered so.
    enum Content: Sendable {
        /// Dead-lettered, and never sent again unchanged.
        case never
        /// Not before 15 minutes have passed; newer content goes at once.
        case later
        /// On another connection, with the same provider token.
        case atOnce
        /// When the pause of the credential is over.
        case afterPause
        /// Dead-lettered, and the credential pauses.
        case neverAndPause
        /// Waits for another token.
        case targetGone
        /// With all that is newer, until this target has had its rest.
        case slowed
    }

    enum Connection: Sendable {
        case kept, replaced
    }

    let status: Int
    let reason: String
    let content: Content
    var connection = Connection.kept
    var alarm: Reaction.Alarm?

    var testDescription: String { "\(status) \(reason)" }

    private static func ours(_ status: Int, _ reason: String, alarm: Reaction.Alarm? = nil) -> AnswerRow {
        AnswerRow(status: status, reason: reason, content: .never, alarm: alarm)
    }

    private static func credential(_ status: Int, _ reason: String) -> AnswerRow {
        AnswerRow(
            status: status, reason: reason, content: .afterPause, connection: .replaced, alarm: .credential)
    }

    static let all: [AnswerRow] = [
        ours(400, "BadCollapseId"), ours(400, "BadDeviceToken"), ours(400, "BadExpirationDate"),
        ours(400, "BadMessageId"), ours(400, "BadPriority"), ours(400, "BadTopic", alarm: .configuration),
        ours(400, "DeviceTokenNotForTopic"), ours(400, "DuplicateHeaders"),
        AnswerRow(status: 400, reason: "IdleTimeout", content: .atOnce, connection: .replaced),
        ours(400, "InvalidPushType"), ours(400, "MissingDeviceToken"),
        ours(400, "MissingTopic", alarm: .configuration), ours(400, "PayloadEmpty"),
        credential(400, "TopicDisallowed"), credential(403, "BadCertificate"),
        credential(403, "BadCertificateEnvironment"),
        // Young by our clock: the alarm is the clock's.
        AnswerRow(
            status: 403, reason: "ExpiredProviderToken", content: .atOnce, connection: .replaced, alarm: .clock),
        AnswerRow(
            status: 403, reason: "Forbidden", content: .neverAndPause, connection: .replaced, alarm: .credential),
        credential(403, "InvalidProviderToken"), credential(403, "MissingProviderToken"),
        AnswerRow(status: 403, reason: "UnrelatedKeyIdInToken", content: .atOnce, connection: .replaced),
        credential(403, "BadEnvironmentKeyIdInToken"), credential(403, "BadEnvironmentKeyInToken"),
        ours(404, "BadPath"), ours(405, "MethodNotAllowed"),
        AnswerRow(status: 410, reason: "ExpiredToken", content: .targetGone),
        AnswerRow(status: 410, reason: "Unregistered", content: .targetGone), ours(413, "PayloadTooLarge"),
        AnswerRow(status: 429, reason: "TooManyProviderTokenUpdates", content: .atOnce, connection: .replaced),
        AnswerRow(status: 429, reason: "TooManyRequests", content: .slowed),
        AnswerRow(status: 500, reason: "InternalServerError", content: .later),
        AnswerRow(status: 503, reason: "ServiceUnavailable", content: .later),
        AnswerRow(status: 503, reason: "Shutdown", content: .later, connection: .replaced),
        // Other 4xx and 5xx: by their class.
        ours(418, "NeverHeardOf"), credential(403, "NeverHeardOf"),
        AnswerRow(status: 502, reason: "NeverHeardOf", content: .later),
    ]
}
