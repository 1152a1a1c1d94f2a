import Flow
import Pacing
import RedisFixture
import Storage
import Testing

/// What becomes of a group when its Redis is full, reads only, is slow, dies or is replaced. In each: nothing is done by half, nothing that
/// was acknowledged is lost, and it goes on by itself when Redis does.
@Suite("Bad days of Redis")
struct BadDayTests {
    private static let settled = SettledPosition(offset: 7 << 20, records: 7)

    private static func batch(_ checkpoint: String, offset: Int64 = 7) -> CheckpointBatch {
        CheckpointBatch(
            [Kept("x", checkpoint, due: 5, subject: "s"), Kept("over", checkpoint, timeToLive: 60_000)],
            positions: [SettledPosition(offset: offset << 20, records: offset)])
    }

    /// All that Redis holds, but for what a heartbeat or a renewal changes.
    private static func contents(_ server: RedisServer) throws -> [String: RedisAnswer] {
        var contents: [String: RedisAnswer] = [:]
        for name in try server.call("KEYS", "*").elements.compactMap(\.text) where !name.hasSuffix(":members") {
            if name.hasSuffix(":cursor") { try server.call("HDEL", name, "@alive") }
            contents[name] = try server.call("DUMP", name)
        }
        return contents
    }

    @Test("full: saves are refused whole; leases, heartbeats, claims and loads go on; saves go on when there is room")
    func full() throws {
        let bench = try RedisBench()
        let epoch = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        #expect(try bench.ask("a", .save(partition: 0, epoch, Self.batch("old"))).isSaved)
        let before = try Self.contents(bench.server)

        try bench.server.call("CONFIG", "SET", "maxmemory", "100kb")
        let ended = CheckpointBatch([Kept("x", "new", timeToLive: 60_000, formerSubject: "s")])
        let positionAlone = CheckpointBatch([], positions: [SettledPosition(offset: 9 << 20, records: 9)])
        for refused in [Self.batch("new", offset: 8), ended, positionAlone] {
            #expect(try bench.ask("a", .save(partition: 0, epoch, refused)).failure == .refusesWrites)
        }
        #expect(bench.store("a").fault?.description.contains("raise maxmemory") == true)
        #expect(try Self.contents(bench.server) == before)

        #expect(try bench.ask("a", .renew(partition: 0, epoch)).isRenewed)
        try bench.lapse(0)
        #expect(try bench.ask("a", .renew(partition: 0, epoch)).isRenewed)
        #expect(try bench.ask("b", .beat).members == ["b"])
        #expect(try bench.ask("a", .load(partition: 0, epoch, [.subject("s")])).loaded == ["x": "old"])
        #expect(try bench.ask("a", .release(partition: 0, epoch)).isReleased)
        let next = try #require(try bench.ask("b", .claim(partition: 0)).claim)
        #expect(next.positions == [Self.settled])

        try bench.server.call("CONFIG", "SET", "maxmemory", "0")
        #expect(try bench.ask("b", .save(partition: 0, next.epoch, Self.batch("new", offset: 8))).isSaved)
        #expect(bench.store("b").fault == nil)
        #expect(try bench.ask("b", .load(partition: 0, next.epoch, [.activity("x")])).loaded == ["x": "new"])
    }

    @Test("a replica, or too few of them: nothing is written, and it says so", arguments: ["replica", "replicas"])
    func readOnly(why: String) throws {
        let bench = try RedisBench()
        let epoch = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        #expect(try bench.ask("a", .save(partition: 0, epoch, Self.batch("old"))).isSaved)
        let before = try Self.contents(bench.server)
        if why == "replica" {
            try bench.server.call("REPLICAOF", "127.0.0.1", "1")
        } else {
            try bench.server.call("CONFIG", "SET", "min-replicas-to-write", "1")
        }
        let writes: [StoreRequest] = [
            .beat, .leave, .claim(partition: 0), .renew(partition: 0, epoch), .release(partition: 0, epoch),
            .save(partition: 0, epoch, Self.batch("new", offset: 8)),
        ]
        for request in writes { #expect(try bench.ask("a", request).failure == .refusesWrites, "\(request)") }
        #expect(bench.store("a").fault?.description.contains("replica") == true)
        #expect(try bench.ask("a", .load(partition: 0, epoch, [.activity("x")])).loaded == ["x": "old"])
        if why == "replica" {
            try bench.server.call("REPLICAOF", "NO", "ONE")
        } else {
            try bench.server.call("CONFIG", "SET", "min-replicas-to-write", "0")
        }
        #expect(try Self.contents(bench.server) == before)
        #expect(try bench.ask("a", .save(partition: 0, epoch, Self.batch("new", offset: 8))).isSaved)
    }

    @Test(
        "another type under one of the names: refused whole, with the key's remedy",
        arguments: ["lease", "epoch", "cursor", "due", "f:s"])
    func otherType(name: String) throws {
        let bench = try RedisBench()
        let epoch = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        #expect(try bench.ask("a", .save(partition: 0, epoch, Self.batch("old"))).isSaved)
        try bench.server.call("DEL", "g:{0}:\(name)")
        try bench.server.call("LPUSH", "g:{0}:\(name)", "x")
        let before = try bench.server.call("GET", "g:{0}:a:x")
        let left = CheckpointBatch(
            [Kept("x", "new", formerSubject: "s")], positions: [SettledPosition(offset: 8 << 20, records: 8)])
        for batch in [Self.batch("new", offset: 8), left] {
            #expect(try bench.ask("a", .save(partition: 0, epoch, batch)).failure == .misconfigured)
        }
        #expect(bench.store("a").fault?.description.contains("source.redis.group") == true)
        #expect(try bench.server.call("GET", "g:{0}:a:x") == before)
        if name != "cursor" {
            #expect(try bench.server.call("HGET", "g:{0}:cursor", "rides") == .text("7-0 7"))
        }
    }

    @Test("slow: what is not answered in time is unknown; the same save made again is done once")
    func slow() throws {
        let bench = try RedisBench(timeoutMilliseconds: 100)
        let epoch = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        try bench.server.call("CLIENT", "PAUSE", "100000", "WRITE")
        #expect(try bench.ask("a", .save(partition: 0, epoch, Self.batch("new"))).failure == .unavailable)
        #expect(bench.store("a").fault != nil)
        try bench.server.call("CLIENT", "UNPAUSE")
        #expect(try bench.askUntilReachable("a", .save(partition: 0, epoch, Self.batch("new"))).isSaved)
        #expect(bench.store("a").fault == nil)
        #expect(try bench.ask("a", .load(partition: 0, epoch, [.activity("x")])).loaded == ["x": "new"])
    }

    @Test("stopped and woken: a save that was given up brings no older checkpoint back")
    func lateSave() throws {
        let bench = try RedisBench(timeoutMilliseconds: 100)
        let epoch = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        bench.server.freeze()
        #expect(try bench.ask("a", .save(partition: 0, epoch, Self.batch("older"))).failure == .unavailable)
        bench.server.thaw()
        #expect(try bench.askUntilReachable("a", .save(partition: 0, epoch, Self.batch("newer", offset: 8))).isSaved)
        #expect(try bench.server.call("GET", "g:{0}:a:x") == .text("newer"))
        #expect(try bench.server.call("HGET", "g:{0}:cursor", "rides") == .text("8-0 8"))
    }

    /// With `everysec` Redis answers before it has written to the file while an fsync is under way, for up to two seconds.
    @Test(
        "killed with kill -9, with an append-only file: each save is there whole or not at all, and with `always` none is lost",
        arguments: ["always", "everysec"])
    func killed(policy: String) throws {
        let server = try RedisServer(["--appendonly", "yes", "--appendfsync", policy])
        let bench = try RedisBench(server: server)
        let epoch = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        var saved = 0
        var open = 0
        // Sent one behind the other, and the server is killed while some are on their way.
        for number in 1...400 {
            open += 1
            let batch = CheckpointBatch(
                [Kept("x\(number)", "\(number)", due: Int64(number), subject: "s")],
                positions: [SettledPosition(offset: Int64(number) << 20, records: Int64(number))])
            bench.store("a").perform(.save(partition: 0, epoch, batch)) { answer in
                open -= 1
                if answer.isSaved { saved = number }
            }
        }
        while saved < 100 { bench.loop.runOnce() }
        server.kill()
        while open > 0 { bench.loop.runOnce() }
        try server.start()

        let claim = try #require(try bench.askUntilReachable("a", .claim(partition: 0)).claim)
        let records = Int(claim.positions[0]?.records ?? 0)
        if policy == "always" { #expect(records >= saved) }
        // Checkpoints, followers and position are of the same saves.
        let all = Dictionary(uniqueKeysWithValues: (0..<records).map { ("x\($0 + 1)", "\($0 + 1)") })
        let keys = (1...400).map { LoadKey.activity("x\($0)") }
        #expect(try bench.ask("a", .load(partition: 0, claim.epoch, keys)).loaded == all)
        #expect(try bench.ask("a", .load(partition: 0, claim.epoch, [.subject("s")])).loaded == all)
    }

    @Test("failed over to a replica: positions and checkpoints are there, and epochs rise")
    func failedOver() throws {
        let bench = try RedisBench(server: RedisServer(["--repl-diskless-sync-delay", "0"]))
        let replica = try RedisBench(server: RedisServer(["--replicaof", "127.0.0.1", "\(bench.server.port)"]))
        let claim = try #require(try bench.ask("a", .claim(partition: 0)).claim)
        #expect(try bench.ask("a", .save(partition: 0, claim.epoch, Self.batch("old"))).isSaved)
        #expect(bench.replicated("a") == 1)
        bench.server.kill()
        #expect(try bench.ask("a", .renew(partition: 0, claim.epoch)).failure == .unavailable)
        try replica.server.call("REPLICAOF", "NO", "ONE")
        #expect(try replica.ask("a", .renew(partition: 0, claim.epoch)).isRenewed)
        try replica.lapse(0)
        let next = try #require(try replica.ask("b", .claim(partition: 0)).claim)
        #expect(next.epoch > claim.epoch)
        #expect(next.positions == [Self.settled])
        #expect(try replica.ask("b", .load(partition: 0, next.epoch, [.activity("x")])).loaded == ["x": "old"])
    }

    @Test("empty after a fail-over, or behind: an epoch is not given twice", arguments: ["empty", "behind"])
    func forgotten(how: String) throws {
        let bench = try RedisBench()
        let first = try #require(try bench.ask("a", .claim(partition: 0)).claim)
        let behind = try bench.server.call("GET", "g:{0}:epoch").text
        let second = try #require(try bench.ask("a", .claim(partition: 0)).claim)
        try bench.server.call("FLUSHALL")
        if how == "behind" { try bench.server.call("SET", "g:{0}:epoch", try #require(behind)) }
        for epoch in [first.epoch, second.epoch] {
            let answers = [
                try bench.ask("a", .renew(partition: 0, epoch)),
                try bench.ask("a", .save(partition: 0, epoch, Self.batch("late"))),
            ]
            // The one that is known, though not whose it is, is good for nothing.
            let isKnown = how == "behind" && epoch == first.epoch
            #expect(answers.allSatisfy { isKnown ? $0.isLost : $0.isForgotten })
        }
        let third = try #require(try bench.ask("b", .claim(partition: 0)).claim)
        #expect(third.epoch > first.epoch)
        #expect(third.positions == [nil])
        #expect(try bench.ask("b", .load(partition: 0, third.epoch, [.activity("x")])).loaded == [:])
    }
}
