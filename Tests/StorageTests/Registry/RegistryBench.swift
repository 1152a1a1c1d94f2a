import Flow
import RedisClient
import RedisFixture
import Storage
import Telemetry

/// A registry of one kind, and time that passes for it.
protocol RegistryBench: AnyObject {
    func ask(_ request: RegistryRequest) throws -> RegistryAnswer
    func ask(_ request: RegistrationRequest) throws -> RegistrationAnswer
    /// So much time passes for the starts of a token.
    func age(startsOf token: PushToken, byMilliseconds: Int64) throws
    /// Ends the time of an activity, as time does; `atMost` is how long it may have been kept still.
    func outlive(_ activity: String, atMostMilliseconds: Int64) throws
}

enum RegistryKind: CaseIterable {
    case memory, redis

    func bench() throws -> any RegistryBench {
        switch self {
        case .memory: MemoryRegistryBench()
        case .redis: try RedisRegistryBench()
        }
    }
}

final class MemoryRegistryBench: RegistryBench {
    private var now: Int64 = 1_800_000_000_000
    private(set) lazy var registry = MemoryTokenRegistry { [unowned self] in now }

    func ask(_ request: RegistryRequest) -> RegistryAnswer {
        var answers: [RegistryAnswer] = []
        registry.perform(request) { answers.append($0) }
        precondition(answers.count == 1)
        return answers[0]
    }

    func ask(_ request: RegistrationRequest) -> RegistrationAnswer {
        var answers: [RegistrationAnswer] = []
        registry.perform(request) { answers.append($0) }
        precondition(answers.count == 1)
        return answers[0]
    }

    func age(startsOf token: PushToken, byMilliseconds milliseconds: Int64) { now += milliseconds }
    func outlive(_ activity: String, atMostMilliseconds milliseconds: Int64) { now += milliseconds }
}

/// The registries of a group whose members all share one Redis.
final class RedisRegistryBench: RegistryBench {
    let redis: RedisBench
    private(set) lazy var registry = registry(of: redis.client())

    init(_ redis: RedisBench? = nil) throws { self.redis = try redis ?? RedisBench() }

    func registry(of client: RedisClient) -> RedisTokenRegistry {
        RedisTokenRegistry(client: client, place: "127.0.0.1:\(redis.server.port)", group: "g")
    }

    func ask(_ request: RegistryRequest) -> RegistryAnswer { redis.wait { registry.perform(request, $0) } }
    func ask(_ request: RegistrationRequest) -> RegistrationAnswer { redis.wait { registry.perform(request, $0) } }

    func age(startsOf token: PushToken, byMilliseconds milliseconds: Int64) throws {
        let key = "g:starts:rider:\(token.hex)"
        for (start, time) in try redis.server.call("ZRANGE", key, "0", "-1", "WITHSCORES").table {
            try redis.server.call("ZADD", key, "\((Int64(time) ?? 0) - milliseconds)", start)
        }
    }

    func outlive(_ activity: String, atMostMilliseconds milliseconds: Int64) throws {
        let rest = try redis.server.call("PTTL", "g:activity:\(activity)").integer ?? 0
        guard (1...milliseconds).contains(rest) else { throw BenchFault("\(activity) is kept for \(rest) ms") }
        try redis.server.call("DEL", "g:activity:\(activity)")
    }
}

extension PushToken {
    /// One that is told from others by its number.
    init(_ number: UInt8) { self.init(bytes: Array(repeating: number, count: 32)) }
}

extension KeptToken {
    init(_ number: UInt8, at: Int64, frequent: Bool? = nil) {
        self.init(token: PushToken(number), registeredAtMilliseconds: at, frequentUpdates: frequent)
    }
}

extension RegisteredStartToken {
    init(_ number: UInt8, at: Int64) {
        self.init(token: PushToken(number), registeredAtMilliseconds: at)
    }
}

extension ActivityPlace {
    init(_ key: String, _ partition: Int32) { self.init(key: Array(key.utf8), partition: partition) }
}

extension RegistryBench {
    func begin(_ activity: String, at place: ActivityPlace) throws -> KeptToken?? {
        if case .begun(let kept) = try ask(.begin(activity: Array(activity.utf8), place)) { .some(kept) } else { nil }
    }

    func end(_ activity: String, keptMilliseconds: Int64) throws {
        _ = try ask(.end(activity: Array(activity.utf8), keptMilliseconds: keptMilliseconds))
    }

    func keep(_ activity: String, _ token: KeptToken) throws -> RegistrationAnswer {
        try ask(.keep(activity: Array(activity.utf8), token))
    }

    func takeBack(_ activity: String, _ token: PushToken?, until: Int64) throws -> RegistrationAnswer {
        try ask(.takeBack(activity: Array(activity.utf8), token: token, untilMilliseconds: until))
    }

    func place(_ activity: String) throws -> RegistrationAnswer { try ask(.place(activity: Array(activity.utf8))) }

    func keepStart(_ user: String, app: String = "rider", _ token: RegisteredStartToken) throws -> RegistrationAnswer {
        try ask(.keepStart(user: user, app: app, attributesType: "RideAttributes", token))
    }

    func takeBackStart(
        _ user: String, app: String = "rider", _ token: PushToken?, until: Int64
    ) throws -> RegistrationAnswer {
        try ask(.takeBackStart(user: user, app: app, token: token, untilMilliseconds: until))
    }

    func startToken(_ user: String, app: String = "rider") throws -> RegisteredStartToken? {
        guard case .startToken(let token) = try ask(.startToken(user: user, app: app)) else {
            throw BenchFault("no answer about the start token of \(user)")
        }
        return token
    }

    /// Nil where it was granted, else until when it was deferred.
    func takeStart(
        _ token: PushToken, app: String = "rider", _ activity: String, life: UInt32 = 0, _ budget: StartBudget
    ) throws -> Int64? {
        let mark = StartMark(activity: Array(activity.utf8), life: life)
        switch try ask(.takeStart(token: token, app: app, start: mark, budget)) {
        case .startGranted: return nil
        case .startDeferred(let until): return until
        case let other: throw BenchFault("\(other)")
        }
    }
}

extension RegistryAnswer {
    var failure: StoreFailure? { if case .failed(let failure) = self { failure } else { nil } }
}
