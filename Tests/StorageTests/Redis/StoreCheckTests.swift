import Flow
import Pacing
import RedisFixture
import Storage
import Testing

@Suite("What a member finds before it claims")
struct StoreCheckTests {
    @Test("no fault and no warning with an append-only file and noeviction, a second time as well")
    func fine() throws {
        let bench = try RedisBench(topics: ["rides", "orders"], server: RedisServer(["--appendonly", "yes"]))
        #expect(bench.check("a").warnings == [])
        #expect(bench.check("a").warnings == [])
    }

    @Test("topics in another order are refused: what was applied of one would count for the other")
    func otherOrder() throws {
        let bench = try RedisBench(topics: ["rides", "orders"])
        #expect(bench.check("a").fault == nil)
        let other = try RedisBench(topics: ["orders", "rides"], server: bench.server)
        let fault = try #require(other.check("b").fault)
        #expect(fault.failure == .misconfigured)
        #expect(fault.description.contains("of the topics rides orders, and this member is set to 8 of orders rides"))
        let front = try RedisBench(topics: ["first", "rides", "orders"], server: bench.server)
        #expect(front.check("b").fault?.failure == .misconfigured)
        let fewer = try RedisBench(topics: ["rides"], server: bench.server)
        #expect(fewer.check("b").fault?.failure == .misconfigured)
    }

    @Test(
        "who may not read its topics is refused before it takes a partition from one who may",
        arguments: ["xread", "xinfo", "xrange", "xgroup"])
    func mayNotRead(command: String) throws {
        let bench = try RedisBench()
        try bench.server.call("XADD", "rides:{0}", "*", "event", "{}")
        try bench.server.call(
            "ACL", "SETUSER", "default", "reset", "on", "nopass", "~g:*", "~rides:*", "+@read", "+@write",
            "+@scripting",
            "+@connection", "-@dangerous", "+time", "+info", "+acl")
        #expect(bench.check("a").fault == nil)
        try bench.server.call("ACL", "SETUSER", "default", "-\(command)")
        let fault = try #require(bench.check("a").fault)
        #expect(fault.failure == .misconfigured)
        #expect(fault.description.lowercased().contains(command))
        try bench.server.call("ACL", "SETUSER", "default", "+\(command)", "resetkeys", "~g:*")
        #expect(bench.check("a").fault?.failure == .misconfigured)
    }

    @Test("another number of partitions than the group has is refused, whoever lives")
    func otherPartitions() throws {
        let bench = try RedisBench(partitions: 8)
        #expect(bench.check("a").fault == nil)
        let other = try RedisBench(partitions: 16, server: bench.server)
        let fault = try #require(other.check("b").fault)
        #expect(fault.failure == .misconfigured)
        #expect(
            fault.description.contains("has 8 partitions of the topics rides, and this member is set to 16 of rides"))
        #expect(fault.description.contains("Set source.redis.partitions to 8"))
    }

    @Test("a topic more is refused while others live, and taken when nobody does")
    func otherTopics() throws {
        let bench = try RedisBench()
        #expect(bench.check("a").fault == nil)
        _ = try bench.ask("a", .beat)
        let other = try RedisBench(topics: ["rides", "orders"], server: bench.server)
        #expect(other.check("b").fault?.description.contains("the same source.redis.topics") == true)
        _ = try bench.ask("a", .leave)
        #expect(other.check("b").fault == nil)
        #expect(try bench.server.call("HGET", "g:shape", "topics") == .text("rides orders"))
    }

    @Test(
        "a stream beyond the last partition tells that producers divide by another number", arguments: [8, 100, 1_023])
    func streamBeyond(partition: Int) throws {
        let bench = try RedisBench(topics: ["rides", "orders"], partitions: 8)
        try bench.server.call("XADD", "orders:{7}", "*", "event", "{}")
        #expect(bench.check("a").fault == nil)
        try bench.server.call("XADD", "orders:{\(partition)}", "*", "event", "{}")
        let fault = try #require(bench.check("a").fault)
        #expect(fault.failure == .misconfigured)
        #expect(fault.description.contains("has the stream orders:{\(partition)}, and source.redis.partitions is 8"))
        #expect(fault.description.contains("divide by \(partition + 1) or more"))
    }

    @Test("a member whose settings are wrong leaves no shape that the right ones do not fit")
    func wrongFirst() throws {
        let bench = try RedisBench(partitions: 8)
        try bench.server.call("XADD", "rides:{15}", "*", "event", "{}")
        #expect(bench.check("a").fault?.failure == .misconfigured)
        let mended = try RedisBench(partitions: 16, server: bench.server)
        #expect(mended.check("a").fault == nil)
        #expect(try bench.server.call("HGET", "g:shape", "partitions") == .text("16"))
    }

    @Test("keys that may be evicted and data that is kept in memory alone are warned of")
    func warned() throws {
        let bench = try RedisBench()
        try bench.server.call("CONFIG", "SET", "maxmemory-policy", "volatile-lru")
        #expect(bench.check("a").warnings?.count == 1)
        try bench.server.call("CONFIG", "SET", "maxmemory", "100mb")
        let warnings = try #require(bench.check("a").warnings)
        #expect(warnings.count == 2)
        #expect(warnings[0].contains("maxmemory-policy volatile-lru"))
        #expect(warnings[1].contains("appendonly no"))
        try bench.server.call("CONFIG", "SET", "maxmemory-policy", "noeviction")
        #expect(bench.check("a").warnings?.count == 1)
    }

    @Test("a right that is missing is found before it is needed, and the remedy of the message mends it")
    func missingRight() throws {
        let bench = try RedisBench()
        try bench.server.call("ACL", "SETUSER", "bob", "on", ">secret", "~g:*", "~rides:*", "+@all", "-persist")
        let fault = try #require(bench.check("a", user: "bob", password: "secret").fault)
        #expect(fault.failure == .misconfigured)
        #expect(fault.description.contains("PERSIST"))
        #expect(!fault.description.contains("secret"))
        let commands = "+@read +@write +@scripting +@connection -@dangerous +time +info"
        let rights = "~g:* ~rides:* -@all \(commands)"
        #expect(fault.description.contains("~<group>:* ~<topic>:* ~dlq.* \(commands)"))
        for right in rights.split(separator: " ") { try bench.server.call("ACL", "SETUSER", "bob", String(right)) }
        #expect(bench.check("a").warnings?.count == 1)
        let epoch = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        let batch = CheckpointBatch(
            [Kept("x", "1", due: 1, subject: "s")], positions: [SettledPosition(offset: 1 << 20, records: 1)])
        try bench.server.call("XGROUP", "CREATE", "rides:{0}", "g", "0", "MKSTREAM")
        #expect(try bench.ask("a", .save(partition: 0, epoch, batch)).isSaved)
        #expect(bench.store("a").unmirroredSaves == 0)
        _ = try bench.ask("a", .beat)

        try bench.server.call("ACL", "SETUSER", "bob", "-info")
        let warnings = try #require(bench.check("a").warnings)
        #expect(warnings.count == 1)
        #expect(warnings[0].contains("does not tell how it keeps data"))

        try bench.server.call("ACL", "SETUSER", "bob", "resetkeys", "~rides:*")
        #expect(bench.check("a").fault?.failure == .misconfigured)
        #expect(try bench.ask("a", .renew(partition: 0, epoch)).failure == .misconfigured)
    }

    @Test("a wrong password is no missing Redis")
    func wrongPassword() throws {
        let bench = try RedisBench(timeoutMilliseconds: 200)
        try bench.server.call("ACL", "SETUSER", "bob", "on", ">right", "~*", "+@all")
        var check = bench.check("a", user: "bob", password: "wrong")
        // The first may be given up before the connection has been refused.
        for _ in 1...100 where check.fault?.failure == .unavailable { check = bench.check("a") }
        #expect(check.fault?.failure == .misconfigured)
        #expect(check.fault?.description.contains("wrong") == false)
        #expect(try bench.ask("a", .beat).failure == .misconfigured)
    }

    @Test("a group of a newer format is refused clearly")
    func newerFormat() throws {
        let bench = try RedisBench()
        _ = try bench.ask("a", .claim(partition: 0))
        try bench.server.call("HSET", "g:{0}:cursor", "@format", "2")
        let before = try bench.server.call("GET", "g:{0}:epoch")
        #expect(try bench.ask("a", .claim(partition: 0)).failure == .misconfigured)
        #expect(
            bench.store("a").fault?.description.contains("kept in format 2, and this version knows 1 at most") == true)
        #expect(try bench.server.call("GET", "g:{0}:epoch") == before)
    }

    @Test("a position that is none is told with its key and field")
    func brokenPosition() throws {
        let bench = try RedisBench()
        try bench.server.call("HSET", "g:{0}:cursor", "rides", "yesterday")
        #expect(try bench.ask("a", .claim(partition: 0)).failure == .misconfigured)
        #expect(bench.store("a").fault?.description.contains("Field rides of key g:{0}:cursor") == true)
    }

    @Test("a full or read-only Redis is told as that")
    func fullAtStart() throws {
        let bench = try RedisBench()
        try bench.server.call("CONFIG", "SET", "maxmemory", "100kb")
        #expect(bench.check("a").fault?.failure == .refusesWrites)
        try bench.server.call("CONFIG", "SET", "maxmemory", "0")
        try bench.server.call("REPLICAOF", "127.0.0.1", "1")
        #expect(bench.check("a").fault?.failure == .refusesWrites)
    }
}
