import Registration
import Telemetry

/// The event that a registration becomes, as `schemas/` has it.
struct TokenEvent: Sendable {
    let activity: [UInt8]
    let token: PushToken?
    let isRevoked: Bool
    let frequentUpdates: Bool?
    let app: String?
    let atMilliseconds: Int64

    /// - Parameter app: already looked up; nil where the registration named none.
    init(_ registration: UpdateTokenRegistration, atMilliseconds: Int64? = nil) {
        activity = Array(registration.activityIdentifier.utf8)
        token = registration.token
        isRevoked = registration.isRevoked || registration.token == nil
        frequentUpdates = registration.frequentUpdates
        app = registration.app
        self.atMilliseconds = atMilliseconds ?? registration.atMilliseconds
    }

    /// JSON. The same registration is the same event: sent again after an answer that was lost, it is a duplicate.
    var bytes: [UInt8] {
        var buffer = ByteBuffer(capacity: 512)
        buffer.append(raw: #"{"type":"token","activityId":"#)
        buffer.append(string: String(decoding: activity, as: UTF8.self))
        if let token {
            buffer.append(raw: #","token":"#)
            buffer.append(string: token.hex)
        }
        if isRevoked { buffer.append(raw: #","revoked":true"#) }
        if let frequentUpdates {
            buffer.append(raw: #","frequentUpdates":"#)
            buffer.append(bool: frequentUpdates)
        }
        if let app {
            buffer.append(raw: #","app":"#)
            buffer.append(string: app)
        }
        buffer.append(raw: #","timestamp":"#)
        buffer.append(secondsOfMilliseconds: atMilliseconds)
        buffer.append(raw: #","eventId":"#)
        buffer.append(string: identifier)
        buffer.append(raw: "}")
        return buffer.withUnsafeBytes { Array($0) }
    }

    /// Tells registrations of one activity apart; of which one it is, a reader of the id learns nothing.
    private var identifier: String {
        var text = isRevoked ? "revoked" : "token"
        if let frequentUpdates { text += frequentUpdates ? "+" : "-" }
        var content = activity
        token?.withBytes { content += $0 }
        content += Array(text.utf8)
        let hash = content.withUnsafeBytes { KeyedHash.stored.hash($0) }
        return "registration-\(atMilliseconds)-\(String(hash, radix: 16))"
    }
}
