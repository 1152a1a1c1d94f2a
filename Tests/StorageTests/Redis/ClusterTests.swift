import Flow
import Pacing
import RedisFixture
import Storage
import Testing

/// A node of a cluster refuses what touches keys of several slots, whoever serves them.
@Suite("A Redis Cluster")
struct ClusterTests {
    private func bench() throws -> RedisBench {
        let server = try RedisServer(kind: .clusterNode)
        try server.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
        let bench = try RedisBench(
            topics: ["rides", "orders"], partitions: 4, timeoutMilliseconds: 2_000, server: server, isCluster: true)
        while try server.call("CLUSTER", "INFO").text?.contains("cluster_state:ok") != true {
            bench.loop.runOnce(timeoutMilliseconds: 5)
        }
        return bench
    }

    @Test("each request keeps to the keys of one slot")
    func oneSlot() throws {
        let bench = try bench()
        #expect(bench.check("a").warnings?.count == 1)
        #expect(try bench.ask("a", .beat).members == ["a"])
        for partition in 0..<4 as Range<Int32> {
            let epoch = try #require(try bench.ask("a", .claim(partition: partition)).claim).epoch
            let batch = CheckpointBatch(
                [
                    Kept("x", "1", due: 1, subject: "{s}"),
                    Kept("{y}", "1", timeToLive: 60_000, subject: "t", formerSubject: "u"),
                ],
                positions: [SettledPosition(offset: 1 << 20, records: 1), SettledPosition(offset: 2 << 20, records: 2)])
            #expect(try bench.ask("a", .save(partition: partition, epoch, batch)).isSaved)
            let keys: [LoadKey] = [.activity("x"), .subject("{s}"), .subject("t")]
            #expect(try bench.ask("a", .load(partition: partition, epoch, keys)).loaded == ["x": "1", "{y}": "1"])
            #expect(
                try bench.ask(
                    "a", .loadDue(partition: partition, epoch, fromMilliseconds: 0, throughMilliseconds: 9, limit: 9)
                )
                .due == ["x at 1"])
            #expect(try bench.ask("a", .renew(partition: partition, epoch)).isRenewed)
            #expect(try bench.ask("a", .release(partition: partition, epoch)).isReleased)
        }
    }

    @Test("a partition on its way to another node is out of reach, not ill, and moves no position")
    func migrating() throws {
        let bench = try bench()
        let epoch = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        let before = CheckpointBatch(
            [Kept("x", "1", due: 1)], positions: [SettledPosition(offset: 1 << 20, records: 1), nil])
        #expect(try bench.ask("a", .save(partition: 0, epoch, before)).isSaved)
        let target = try RedisServer(kind: .clusterNode)
        let name = try #require(try target.call("CLUSTER", "MYID").text)
        try bench.server.call("CLUSTER", "MEET", "127.0.0.1", "\(target.port)")
        let slot = "\(try #require(try bench.server.call("CLUSTER", "KEYSLOT", "{0}").integer))"
        while try bench.server.call("CLUSTER", "SETSLOT", slot, "MIGRATING", name) != .text("OK") {
            bench.loop.runOnce(timeoutMilliseconds: 5)
        }
        // No key has gone yet, and none may be made here any more.
        let after = CheckpointBatch(
            [Kept("x", "2"), Kept("new", "2")], positions: [SettledPosition(offset: 2 << 20, records: 2), nil])
        #expect(try bench.ask("a", .save(partition: 0, epoch, after)).failure == .unavailable)
        try bench.server.call("CLUSTER", "SETSLOT", slot, "STABLE")
        #expect(try bench.server.call("HGET", "g:{0}:cursor", "rides") == .text("1-0 1"))
        #expect(try bench.ask("a", .save(partition: 0, epoch, CheckpointBatch([Kept("x", "3")]))).isSaved)
    }
}
