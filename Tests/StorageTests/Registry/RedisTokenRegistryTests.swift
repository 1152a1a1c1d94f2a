import Flow
import RedisClient
import RedisFixture
import Storage
import Telemetry
import Testing

@Suite("The registry of tokens in Redis")
struct RedisTokenRegistryTests {
    private static let courier = ActivityPlace("courier 7", 3)
    private static let token = String(repeating: "01", count: 32)

    @Test("keeps what README.md says under the keys that it names, and no longer")
    func keys() throws {
        let bench = try RedisRegistryBench()
        let server = bench.redis.server
        func rest(_ key: String) throws -> Int64 { try #require(try server.call("PTTL", key).integer) }
        _ = try bench.keep("ride 7", KeptToken(1, at: 100, frequent: true))
        #expect(
            try server.call("HGETALL", "g:activity:ride 7").table
                == ["token": Self.token, "at": "100", "frequent": "1"])
        #expect((1...43_200_000).contains(try rest("g:activity:ride 7")))
        _ = try bench.begin("ride 7", at: Self.courier)
        #expect(try server.call("HGET", "g:activity:ride 7", "key") == .text("courier 7"))
        #expect(try server.call("HGET", "g:activity:ride 7", "partition") == .text("3"))
        #expect((43_200_001...15_552_000_000).contains(try rest("g:activity:ride 7")))
        _ = try bench.takeBack("ride 8", nil, until: 200)
        #expect(try server.call("HGETALL", "g:activity:ride 8").table == ["at": "200"])
        #expect((1...43_200_000).contains(try rest("g:activity:ride 8")))

        _ = try bench.keepStart("ann", RegisteredStartToken(1, at: 100))
        _ = try bench.takeBackStart("ann", PushToken(2), until: 100)
        #expect(
            try server.call("HGETALL", "g:user:rider:ann").table == [
                "token": Self.token, "at": "100", "type": "RideAttributes", "gone": PushToken(2).hex, "goneAt": "100",
            ])
        #expect((1...15_552_000_000).contains(try rest("g:user:rider:ann")))
        _ = try bench.takeStart(PushToken(1), "ride 7", life: 4, StartBudget(starts: 1, windowMilliseconds: 60_000))
        #expect(try server.call("ZRANGE", "g:starts:rider:\(Self.token)", "0", "-1") == .array([.text("4:ride 7")]))
        #expect((1...60_000).contains(try rest("g:starts:rider:\(Self.token)")))
        let names = try server.call("KEYS", "*").elements.compactMap(\.text).sorted()
        #expect(
            names == ["g:activity:ride 7", "g:activity:ride 8", "g:starts:rider:\(Self.token)", "g:user:rider:ann"])
    }

    @Test("a question leaves no key behind")
    func noTrace() throws {
        let bench = try RedisRegistryBench()
        #expect(try bench.place("ride") == .unplaced)
        #expect(try bench.startToken("ann") == nil)
        try bench.end("ride", keptMilliseconds: 1_000)
        #expect(try bench.redis.server.call("DBSIZE") == .integer(0))
    }

    @Test("of two clients at once, each registration is either told at the beginning or where to go")
    func race() throws {
        let bench = try RedisRegistryBench()
        let other = bench.registry(of: bench.redis.client())
        var (kept, appended, open) = ([Int: KeptToken](), Set<Int>(), 0)
        for number in 0..<200 {
            let identifier = Array("ride \(number)".utf8)
            open += 2
            bench.registry.perform(.begin(activity: identifier, Self.courier)) { answer in
                open -= 1
                if case .begun(let token?) = answer { kept[number] = token }
            }
            other.perform(.keep(activity: identifier, KeptToken(1, at: 100))) { answer in
                open -= 1
                if answer == .placed(Self.courier) { appended.insert(number) } else { #expect(answer == .kept) }
            }
            if number % 7 == 0 { bench.redis.loop.runOnce(timeoutMilliseconds: 1) }
        }
        while open > 0 { bench.redis.loop.runOnce() }
        for number in 0..<200 { #expect((kept[number] != nil) != appended.contains(number), "ride \(number)") }
    }

    @Test("full: a token is refused whole and said so; what takes back, counts starts and asks goes on")
    func full() throws {
        let bench = try RedisRegistryBench()
        let server = bench.redis.server
        _ = try bench.keep("ride", KeptToken(1, at: 100))
        try server.call("CONFIG", "SET", "maxmemory", "100kb")
        #expect(try bench.keep("ride", KeptToken(2, at: 200)) == .failed(.refusesWrites))
        #expect(bench.registry.fault?.description.contains("raise maxmemory") == true)
        #expect(bench.ask(.begin(activity: Array("new".utf8), Self.courier)).failure == .refusesWrites)
        #expect(try bench.keepStart("ann", RegisteredStartToken(1, at: 100)) == .failed(.refusesWrites))
        #expect(try server.call("EXISTS", "g:activity:new", "g:user:rider:ann") == .integer(0))
        #expect(try server.call("HGET", "g:activity:ride", "at") == .text("100"))
        #expect(try bench.takeBack("ride", PushToken(1), until: 200) == .kept)
        #expect(try bench.takeStart(PushToken(1), "a", StartBudget()) == nil)
        #expect(try bench.place("ride") == .unplaced)
        try server.call("CONFIG", "SET", "maxmemory", "0")
        #expect(try bench.keepStart("ann", RegisteredStartToken(1, at: 100)) == .kept)
        #expect(bench.registry.fault == nil)
    }

    @Test("a replica: nothing is written, and questions are answered")
    func readOnly() throws {
        let bench = try RedisRegistryBench()
        let server = bench.redis.server
        _ = try bench.begin("ride", at: Self.courier)
        try server.call("REPLICAOF", "127.0.0.1", "1")
        let writes: [RegistryRequest] = [
            .begin(activity: [1], Self.courier), .end(activity: Array("ride".utf8), keptMilliseconds: 1),
            .takeStart(token: PushToken(1), app: "rider", start: StartMark(activity: [1], life: 0), StartBudget()),
            .forgetStartToken(user: "ann", app: "rider", token: PushToken(1), goneAtMilliseconds: 1),
        ]
        for request in writes { #expect(bench.ask(request).failure == .refusesWrites, "\(request)") }
        #expect(try bench.keep("other", KeptToken(1, at: 100)) == .failed(.refusesWrites))
        #expect(try bench.place("ride") == .placed(Self.courier))
        #expect(try bench.keep("ride", KeptToken(1, at: 100)) == .placed(Self.courier), "it writes nothing")
        try server.call("REPLICAOF", "NO", "ONE")
        #expect(try bench.keep("other", KeptToken(1, at: 100)) == .kept)
        #expect(bench.registry.fault == nil)
    }

    @Test("slow, and then well: what was not answered in time may be asked again, and counts once")
    func slow() throws {
        let bench = try RedisRegistryBench(RedisBench(timeoutMilliseconds: 100))
        let start = RegistryRequest.takeStart(
            token: PushToken(1), app: "rider", start: StartMark(activity: [1], life: 0),
            StartBudget(starts: 1, windowMilliseconds: 3_600_000))
        try bench.redis.server.call("CLIENT", "PAUSE", "100000", "WRITE")
        #expect(bench.ask(start).failure == .unavailable)
        #expect(bench.registry.fault?.failure == .unavailable)
        try bench.redis.server.call("CLIENT", "UNPAUSE")
        var answer = bench.ask(start)
        while answer.failure == .unavailable {
            bench.redis.loop.runOnce(timeoutMilliseconds: 10)
            answer = bench.ask(start)
        }
        guard case .startGranted = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(bench.registry.fault == nil)
    }

    @Test("another type under one of its names, and what is no token, are told and change nothing")
    func otherType() throws {
        let bench = try RedisRegistryBench()
        try bench.redis.server.call("LPUSH", "g:activity:ride", "x")
        #expect(try bench.keep("ride", KeptToken(1, at: 100)) == .failed(.misconfigured))
        #expect(bench.registry.fault?.description.contains("Something else uses a key of that name") == true)
        #expect(bench.registry.fault?.description.contains(Self.token) == false)
        #expect(try bench.keep("other", KeptToken(1, at: 100)) == .kept)
        #expect(bench.registry.fault == nil)
        try bench.redis.server.call("HSET", "g:user:rider:ann", "token", "yesterday", "at", "100")
        #expect(try bench.startToken("ann") == nil)
    }

    @Test("the rights that README.md names are enough")
    func rights() throws {
        let bench = try RedisRegistryBench()
        try bench.redis.server.call(
            "ACL", "SETUSER", "bob", "on", ">secret", "~g:*", "~rides:*", "-@all", "+@read", "+@write", "+@scripting",
            "+@connection", "-@dangerous", "+time", "+info")
        let registry = bench.registry(of: bench.redis.client(user: "bob", password: "secret"))
        func ask(_ request: RegistrationRequest) -> RegistrationAnswer {
            bench.redis.wait { registry.perform(request, $0) }
        }
        #expect(ask(.keep(activity: [1], KeptToken(1, at: 100))) == .kept)
        #expect(ask(.takeBackStart(user: "ann", app: "rider", token: nil, untilMilliseconds: 1)) == .kept)
        #expect(ask(.place(activity: [1])) == .unplaced)
        let start: RegistryAnswer = bench.redis.wait {
            registry.perform(
                .takeStart(token: PushToken(1), app: "rider", start: StartMark(activity: [1], life: 0), StartBudget()),
                $0)
        }
        #expect(start.failure == nil)
    }

    @Test("in a cluster each request keeps to the slot of its key, braces in ids included")
    func cluster() throws {
        let server = try RedisServer(kind: .clusterNode)
        try server.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
        let bench = try RedisRegistryBench(RedisBench(timeoutMilliseconds: 2_000, server: server, isCluster: true))
        while try server.call("CLUSTER", "INFO").text?.contains("cluster_state:ok") != true {
            bench.redis.loop.runOnce(timeoutMilliseconds: 5)
        }
        for ride in ["ride", "{ride} 1", "a{b}c"] {
            #expect(try bench.keep(ride, KeptToken(1, at: 100)) == .kept)
            #expect(try bench.begin(ride, at: Self.courier) == KeptToken(1, at: 100))
            try bench.end(ride, keptMilliseconds: 1_000)
            #expect(try bench.keepStart(ride, RegisteredStartToken(1, at: 100)) == .kept)
            #expect(try bench.takeBackStart(ride, nil, until: 100) == .kept)
            #expect(try bench.takeStart(PushToken(1), ride, StartBudget()) == nil)
        }
    }
}
