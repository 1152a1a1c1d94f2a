import Pipeline
import RedisClient

extension TopicLoop {
    /// - Throws: why Redis cannot be reached; it is tried again only while it loads its data.
    func redis(_ settings: RedisSettings) throws -> RedisClient {
        let client = RedisClient(
            settings: settings, loop: loop, instruments: RedisInstruments(registry: registry), log: log("redis"))
        while client.status != .connected, !isStopped {
            turn()
            guard case .failing(let fault) = client.status, fault.kind != .loading else { continue }
            throw fault
        }
        var last = client.status
        client.onStatusChange { [weak client] in
            guard let client, client.status != last, client.status != .connecting else { return }
            last = client.status
            Console.say("warning: \(last == .connected ? "connected to Redis again" : "\(last)")")
        }
        return client
    }
}
