import RedisClient
import Telemetry

/// The keys of the registry: one for each activity, user and start token, and each script touches one alone, so that a Redis Cluster may
/// spread them as it likes.
struct RegistryKeys {
    private let activityPrefix: [UInt8]
    private let userPrefix: [UInt8]
    private let startsPrefix: [UInt8]

    init(group: String) {
        activityPrefix = Array("\(group):activity:".utf8)
        userPrefix = Array("\(group):user:".utf8)
        startsPrefix = Array("\(group):starts:".utf8)
    }

    func activity(_ identifier: [UInt8]) -> [UInt8] { activityPrefix + identifier }

    func user(_ user: String, app: String) -> [UInt8] { userPrefix + Array("\(Self.name(app)):\(user)".utf8) }

    func starts(_ token: PushToken, app: String) -> [UInt8] {
        startsPrefix + Array("\(Self.name(app)):\(token.hex)".utf8)
    }

    /// What stands behind an app's colon is never taken for a part of its name.
    private static func name(_ app: String) -> String {
        guard app.utf8.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "%") }) else { return app }
        return app.reduce(into: "") { name, character in
            switch character {
            case ":": name += "%3A"
            case "%": name += "%25"
            default: name.append(character)
            }
        }
    }
}

extension HashSlot {
    init(of key: [UInt8]) { self = key.withUnsafeBytes { HashSlot(of: $0) } }
}
