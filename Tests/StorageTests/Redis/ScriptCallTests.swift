import Flow
import RedisClient
import Testing

@testable import Storage

@Suite("A save that comes late")
struct ScriptCallTests {
    private func outcome(_ bench: RedisBench, _ call: borrowing ScriptCall) -> Int64? {
        bench.wait { completion in
            bench.store("a").client.send(call.command, slot: nil) { outcome in
                if case .reply(let reply) = outcome { completion(reply.integer) } else { completion(nil) }
            }
        }
    }

    @Test("is not done after the one that took its place, nor twice, and a new owner counts anew")
    func overtaken() throws {
        let bench = try RedisBench()
        let group = GroupSettings(name: "g", member: "a", partitions: 8, topics: ["rides"])
        let epoch = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        var older = ScriptCall(group: group)
        var newer = ScriptCall(group: group)
        _ = older.write(.save(partition: 0, epoch, CheckpointBatch([Kept("x", "older")])))
        for _ in 1...2 { _ = newer.write(.save(partition: 0, epoch, CheckpointBatch([Kept("x", "newer")]))) }
        #expect(outcome(bench, newer) == 1)
        #expect(outcome(bench, older) == 2)
        #expect(outcome(bench, newer) == 2)
        #expect(try bench.server.call("GET", "g:{0}:a:x") == .text("newer"))

        let next = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        _ = older.write(.save(partition: 0, next, CheckpointBatch([Kept("x", "next")])))
        #expect(outcome(bench, newer) == 0)
        #expect(outcome(bench, older) == 1)
        #expect(try bench.server.call("GET", "g:{0}:a:x") == .text("next"))
    }

    @Test("that overtook another is told as unknown, to be made again")
    func toldAsUnavailable() throws {
        let bench = try RedisBench()
        let epoch = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        try bench.server.call("HSET", "g:{0}:cursor", "@save", "1")
        let batch = CheckpointBatch([Kept("x", "1")])
        #expect(try bench.ask("a", .save(partition: 0, epoch, batch)).failure == .unavailable)
        #expect(try bench.ask("a", .save(partition: 0, epoch, batch)).isSaved)
    }
}
