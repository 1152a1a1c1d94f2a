import Flow
import Instruments
import RedisClient
import RedisFixture
import Sockets

@testable import Storage

/// Stores of several members on a redis-server of their own.
final class RedisBench: StoreBench {
    let server: RedisServer
    let loop: EventLoop
    private let topics: [String]
    private let partitions: Int32
    private let timeoutMilliseconds: Int64
    private let isCluster: Bool
    private var stores: [String: RedisStore] = [:]

    init(
        topics: [String] = ["rides"], partitions: Int32 = 8, timeoutMilliseconds: Int64 = 5_000,
        server: RedisServer? = nil,
        isCluster: Bool = false
    ) throws {
        self.server = try server ?? RedisServer()
        self.topics = topics
        self.partitions = partitions
        self.timeoutMilliseconds = timeoutMilliseconds
        self.isCluster = isCluster
        loop = try EventLoop()
    }

    deinit {
        for store in stores.values { store.client.close() }
    }

    func client(user: String? = nil, password: String? = nil) -> RedisClient {
        let address = RedisAddress("127.0.0.1", server.port)
        var settings = RedisSettings(isCluster ? .cluster([address]) : .single(address))
        settings.username = user
        settings.password = password.map { RedisPassword($0) }
        settings.commandTimeoutMilliseconds = timeoutMilliseconds
        settings.reconnectDelayMilliseconds = 10
        settings.reconnectDelayMaxMilliseconds = 50
        return RedisClient(
            settings: settings, loop: loop, instruments: RedisInstruments(registry: Registry()),
            log: Log(component: "redis", to: LogSink(level: .error, format: .text)))
    }

    func store(_ member: String, user: String? = nil, password: String? = nil) -> RedisStore {
        if let store = stores[member] { return store }
        let group = GroupSettings(name: "g", member: member, partitions: partitions, topics: topics)
        let store = RedisStore(
            client: client(user: user, password: password), place: "127.0.0.1:\(server.port)", group: group)
        stores[member] = store
        return store
    }

    func ask(_ member: String, _ request: StoreRequest) throws -> StoreAnswer {
        wait { store(member).perform(request, $0) }
    }

    /// Asks again while Redis is out of reach: for the time after a fault, when the client finds its way back.
    func askUntilReachable(_ member: String, _ request: StoreRequest) throws -> StoreAnswer {
        for _ in 1...1_000 {
            let answer = try ask(member, request)
            guard answer.failure == .unavailable else { return answer }
            loop.runOnce(timeoutMilliseconds: 10)
        }
        throw BenchFault("out of reach for too long: \(store(member).fault?.description ?? "")")
    }

    func check(_ member: String, user: String? = nil, password: String? = nil) -> StoreCheck {
        let store = store(member, user: user, password: password)
        return wait { store.check($0) }
    }

    /// How many replicas have all that the member has written; waits for one.
    func replicated(_ member: String) -> Int64? {
        wait { completion in
            store(member).client.send(RedisCommand("WAIT", "1", "4000"), slot: nil) { outcome in
                if case .reply(let reply) = outcome { completion(reply.integer) } else { completion(nil) }
            }
        }
    }

    func wait<Answer>(_ begin: (@escaping (Answer) -> Void) -> Void) -> Answer {
        var answers: [Answer] = []
        begin { answers.append($0) }
        while answers.isEmpty { loop.runOnce() }
        precondition(answers.count == 1)
        return answers[0]
    }

    func lapse(_ partition: Int32) throws { try server.call("DEL", "g:{\(partition)}:lease") }

    func outlive(_ partition: Int32, _ ids: String...) throws {
        for id in ids {
            let rest = try server.call("PTTL", "g:{\(partition)}:a:\(id)").integer ?? 0
            guard rest > 0 else { throw BenchFault("\(id) has no end: \(rest)") }
            try server.call("DEL", "g:{\(partition)}:a:\(id)")
        }
    }
}

struct BenchFault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension RedisAnswer {
    /// An array of names and texts, as HGETALL and ZRANGE WITHSCORES give.
    var table: [String: String] {
        let texts = elements.map { $0.text ?? "" }
        return Dictionary(
            stride(from: 0, to: texts.count - 1, by: 2).map { (texts[$0], texts[$0 + 1]) }, uniquingKeysWith: { $1 })
    }
}
