import KafkaClient
import Pacing

/// What a desk has to be told beside what its run was.
public struct DeskSettings: Sendable {
    /// Configured applications.
    public var apps: [String]
    /// Those of the shards that write checkpoints: so what is in one is shown as it would be pushed.
    public var shard: ShardSettings
    /// Registrations and questions that may wait for an answer; the next one is told that it is too much.
    public var mostWaiting = 1_024
    /// So long a broker of Kafka has to acknowledge an event. With Redis it is the time limit of a command.
    public var patienceMilliseconds: Int64 = 5_000

    public init(apps: [String], shard: ShardSettings) {
        (self.apps, self.shard) = (apps, shard)
    }

    /// The app that a registration is for: the one that it names, or the only one there is.
    func app(_ named: String?) -> Result<String, UnknownApp> {
        guard let named else {
            if apps.count == 1 { return .success(apps[0]) }
            return .failure(UnknownApp(problem: "\(apps.count) apps are configured, and the registration names none"))
        }
        guard apps.contains(named) else { return .failure(UnknownApp(problem: "no app is called \"\(named)\"")) }
        return .success(named)
    }

    /// What is wrong with the app that a registration names; one that names none goes to the activity's own.
    func problem(withApp named: String?) -> String? {
        guard named != nil, case .failure(let unknown) = app(named) else { return nil }
        return unknown.problem
    }

    struct UnknownApp: Error {
        let problem: String
    }
}
