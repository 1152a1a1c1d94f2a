import Flow
import Pacing
import RedisFixture
import Storage
import Testing

/// What README.md promises to whoever looks with redis-cli.
@Suite("The keys in Redis")
struct KeyLayoutTests {
    @Test("are those of the table, and have no others beside them")
    func keys() throws {
        let bench = try RedisBench(topics: ["rides", "orders"])
        _ = bench.check("a")
        _ = try bench.ask("a", .beat)
        let claim = try #require(try bench.ask("a", .claim(partition: 3)).claim)
        let batch = CheckpointBatch(
            [
                Kept("ride 7", "blob", due: 1_800_000_000_000, subject: "courier 1"),
                Kept("ride 8", "ended", timeToLive: 60_000, subject: "courier 2"),
            ],
            positions: [SettledPosition(offset: 1_800_000_000_000 << 20 | 7, records: 12), nil], serial: 7)
        #expect(try bench.ask("a", .save(partition: 3, claim.epoch, batch)).isSaved)

        let names = try bench.server.call("KEYS", "*").elements.compactMap(\.text).sorted()
        #expect(
            names == [
                "g:members", "g:shape", "g:{3}:a:ride 7", "g:{3}:a:ride 8", "g:{3}:cursor", "g:{3}:due", "g:{3}:epoch",
                "g:{3}:f:courier 1", "g:{3}:f:courier 2", "g:{3}:lease",
            ])
        #expect(try bench.server.call("GET", "g:{3}:lease") == .text("a"))
        #expect((1...10_000).contains(try #require(try bench.server.call("PTTL", "g:{3}:lease").integer)))
        #expect(try bench.server.call("GET", "g:{3}:epoch") == .text("\(claim.epoch)"))
        var cursor = try bench.server.call("HGETALL", "g:{3}:cursor").table
        #expect(cursor.removeValue(forKey: "@alive") != nil)
        #expect(cursor == ["@format": "1", "@owner": "a", "@serial": "7", "rides": "1800000000000-7 12"])
        #expect(
            try bench.server.call("ZRANGE", "g:{3}:due", "0", "-1", "WITHSCORES").table == ["ride 7": "1800000000000"])
        #expect(try bench.server.call("GET", "g:{3}:a:ride 7") == .text("blob"))
        #expect(try bench.server.call("PTTL", "g:{3}:a:ride 7") == .integer(-1))
        #expect((1...60_000).contains(try #require(try bench.server.call("PTTL", "g:{3}:a:ride 8").integer)))
        #expect(try bench.server.call("SMEMBERS", "g:{3}:f:courier 1") == .array([.text("ride 7")]))
        #expect(try bench.server.call("HGETALL", "g:shape").table == ["partitions": "8", "topics": "rides orders"])
        #expect(try bench.server.call("ZRANGE", "g:members", "0", "-1") == .array([.text("a")]))
    }

    @Test("end with what they tell of: no follower set outlives its followers")
    func followerSetsEnd() throws {
        let bench = try RedisBench()
        let epoch = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        func save(_ kept: Kept...) throws {
            #expect(try bench.ask("a", .save(partition: 0, epoch, CheckpointBatch(kept))).isSaved)
        }
        func rest() throws -> Int64? { try bench.server.call("PTTL", "g:{0}:f:s").integer }
        try save(Kept("x", "1", subject: "s"), Kept("y", "1", subject: "s"))
        #expect(try rest() == -1)
        try save(Kept("x", "ended", timeToLive: 60_000, subject: "s"))
        #expect(try rest() == -1)
        try save(Kept("y", "ended", timeToLive: 90_000, subject: "s"))
        #expect((60_001...90_000).contains(try #require(try rest())))
        try save(Kept("z", "begun", subject: "s"))
        #expect(try rest() == -1)
        try save(Kept("z", "left", formerSubject: "s"))
        try save(Kept("x", "left", formerSubject: "s"), Kept("y", "left", formerSubject: "s"))
        #expect(try bench.server.call("EXISTS", "g:{0}:f:s") == .integer(0))
    }

    @Test("the consumer group of the stream stands where the partition is settled")
    func mirroredGroup() throws {
        let bench = try RedisBench()
        for entry in 1...5 { try bench.server.call("XADD", "rides:{0}", "\(entry)-0", "event", "{}") }
        try bench.server.call("XGROUP", "CREATE", "rides:{0}", "g", "0")
        let epoch = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        let batch = CheckpointBatch([], positions: [SettledPosition(offset: 3 << 20, records: 3)])
        #expect(try bench.ask("a", .save(partition: 0, epoch, batch)).isSaved)
        let group = try bench.server.call("XINFO", "GROUPS", "rides:{0}").elements.first?.elements
        #expect(
            group?.suffix(6) == [
                .text("last-delivered-id"), .text("3-0"), .text("entries-read"), .integer(3), .text("lag"), .integer(2),
            ])
        #expect(bench.store("a").unmirroredSaves == 0)
    }

    @Test(
        "a consumer group that is missing, or a stream of another type, keeps no save back",
        arguments: ["group", "stream", "type"])
    func unmirrored(missing: String) throws {
        let bench = try RedisBench()
        switch missing {
        case "group": try bench.server.call("XADD", "rides:{0}", "1-0", "event", "{}")
        case "type": try bench.server.call("LPUSH", "rides:{0}", "x")
        default: break
        }
        let epoch = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        let position = SettledPosition(offset: 1 << 20, records: 1)
        let batch = CheckpointBatch([Kept("x", "1")], positions: [position])
        #expect(try bench.ask("a", .save(partition: 0, epoch, batch)).isSaved)
        #expect(try bench.ask("a", .claim(partition: 0)).claim?.positions == [position])
        #expect(bench.store("a").unmirroredSaves == 1)
        #expect(bench.store("a").unmirroredReason?.hasPrefix("rides:{0}: ") == true)
    }
}
