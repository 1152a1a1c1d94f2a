import RedisFixture
import Testing

@testable import RedisClient

@Suite struct ClusterTests {
    /// Three masters, each with a third of the slots.
    private final class Ring {
        let nodes: [RedisServer]
        let identifiers: [String]
        let desk: Desk

        init(_ change: (inout RedisSettings) -> Void = { _ in }) throws {
            nodes = try (0..<3).map { _ in try RedisServer(kind: .clusterNode) }
            identifiers = try nodes.map { try $0.call("CLUSTER", "MYID").text! }
            for (number, node) in nodes.enumerated() {
                // Each its own, or they would have to agree on who has the higher one first.
                try node.call("CLUSTER", "SET-CONFIG-EPOCH", "\(number + 1)")
                let first = number * 5_462
                try node.call("CLUSTER", "ADDSLOTSRANGE", "\(first)", "\(min(first + 5_461, 16_383))")
                try node.call("CLUSTER", "MEET", "127.0.0.1", "\(nodes[0].port)")
            }
            // One of them has to do.
            var settings = RedisSettings(.cluster([RedisAddress("127.0.0.1", nodes[1].port)]))
            settings.reconnectDelayMilliseconds = 5
            settings.reconnectDelayMaxMilliseconds = 50
            settings.commandTimeoutMilliseconds = 10_000
            change(&settings)
            desk = Desk(settings)
            desk.eventually {
                try nodes.allSatisfy { node in
                    let info = try node.call("CLUSTER", "INFO").text ?? ""
                    return info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3")
                        && info.contains("cluster_slots_assigned:16384")
                }
            }
        }

        func owner(of key: String) -> Int { Int(HashSlot(of: key).number) / 5_462 }

        func setSlot(_ key: String, of node: Int, _ words: String...) throws {
            let slot = "\(HashSlot(of: key).number)"
            let answer = try RedisAnswer.ask(nodes[node].port, ["CLUSTER", "SETSLOT", slot] + words)
            #expect(answer == .text("OK"))
        }

        /// The slot of `key` begins its way, and nothing of it has gone yet.
        func beginMove(_ key: String, to target: Int) throws {
            try setSlot(key, of: target, "IMPORTING", identifiers[owner(of: key)])
            try setSlot(key, of: owner(of: key), "MIGRATING", identifiers[target])
        }

        func carry(_ key: String, to target: Int) throws {
            let answer = try nodes[owner(of: key)].call(
                "MIGRATE", "127.0.0.1", "\(nodes[target].port)", key, "0", "20000")
            #expect(answer == .text("OK"))
        }

        func endMove(_ key: String, to target: Int) throws {
            try setSlot(key, of: target, "NODE", identifiers[target])
            try setSlot(key, of: owner(of: key), "NODE", identifiers[target])
        }
    }

    @Test func eachKeyGoesToItsNode() throws {
        let ring = try Ring()
        for number in 0..<60 {
            #expect(ring.desk.call("SET", "k{\(number)}", "\(number)", key: "k{\(number)}") == .text("OK"))
        }
        let sizes = try ring.nodes.map { try $0.call("DBSIZE").integer ?? 0 }
        #expect(sizes.reduce(0, +) == 60)
        #expect(sizes.allSatisfy { $0 > 0 })
        #expect(ring.desk.detours("moved") == 0)
        #expect(ring.desk.client.status == .connected)
        #expect(ring.desk.call("PING") == .text("PONG"))
    }

    @Test func aSlotThatMovesIsFollowed() throws {
        let ring = try Ring()
        let key = "rides:{7}"
        let target = (ring.owner(of: key) + 1) % 3
        #expect(ring.desk.call("SET", key, "1", key: key) == .text("OK"))
        try ring.beginMove(key, to: target)
        // A key that is still there is answered there, one that is not is asked for at the target.
        #expect(ring.desk.call("GET", key, key: key) == .text("1"))
        #expect(ring.desk.detours("ask") == 0)
        #expect(ring.desk.call("SET", "new:{7}", "2", key: "new:{7}") == .text("OK"))
        #expect(ring.desk.detours("ask") == 1)
        // Keys on both sides in one command: to be tried again, until the last one has been carried over.
        let both = ring.desk.begin("MGET", key, "new:{7}", key: key)
        ring.desk.drive { ring.desk.detours("try_again") > 0 }
        #expect(both.seen.isEmpty)
        try ring.carry(key, to: target)
        try ring.endMove(key, to: target)
        ring.desk.drive { !both.seen.isEmpty }
        #expect(both.seen == [.array([.text("1"), .text("2")])])
        #expect(try ring.nodes[target].call("GET", key) == .text("1"))
    }

    @Test func aSlotThatHasMovedIsLearnedAtOnce() throws {
        let ring = try Ring()
        let key = "rides:{7}"
        let target = (ring.owner(of: key) + 1) % 3
        #expect(ring.desk.call("SET", key, "1", key: key) == .text("OK"))
        try ring.beginMove(key, to: target)
        try ring.carry(key, to: target)
        try ring.endMove(key, to: target)
        #expect(ring.desk.call("GET", key, key: key) == .text("1"))
        #expect(ring.desk.call("GET", key, key: key) == .text("1"))
        #expect(ring.desk.detours("moved") == 1)
    }

    @Test func commandsOfOneSlotKeepTheirOrderWhileItMoves() throws {
        // Goal: what is pipelined to a slot takes effect in order, also across ASK and MOVED. Method: appends without a pause to two keys of
        // a slot that moves to and fro under them; each key then holds all numbers in order.
        let ring = try Ring()
        let keys = ["a:{7}", "b:{7}"]
        let home = ring.owner(of: keys[0])
        var sent = 0
        var done = 0
        // A turn after each: some answers have come and others are under way when the next command leaves.
        func feed() {
            for _ in 0..<100 {
                for key in keys {
                    ring.desk.client.send(.of(["APPEND", key, "\(sent),"]), key: key) { _ in done += 1 }
                }
                sent += 1
                ring.desk.loop.runOnce(timeoutMilliseconds: 0)
            }
        }
        for _ in 0..<8 {
            feed()
            let target = (home + 1) % 3
            try ring.beginMove(keys[0], to: target)
            feed()
            try ring.carry(keys[0], to: target)
            feed()
            try ring.carry(keys[1], to: target)
            feed()
            try ring.endMove(keys[0], to: target)
            feed()
            // And back, so that the next round begins where this one did.
            try ring.setSlot(keys[0], of: home, "IMPORTING", ring.identifiers[target])
            try ring.setSlot(keys[0], of: target, "MIGRATING", ring.identifiers[home])
            feed()
            for key in keys {
                #expect(
                    try ring.nodes[target].call("MIGRATE", "127.0.0.1", "\(ring.nodes[home].port)", key, "0", "20000")
                        == .text("OK"))
                feed()
            }
            try ring.setSlot(keys[0], of: home, "NODE", ring.identifiers[home])
            try ring.setSlot(keys[0], of: target, "NODE", ring.identifiers[home])
            feed()
        }
        ring.desk.drive { done == 2 * sent }
        let expected = (0..<sent).map { "\($0)," }.joined()
        for key in keys {
            let isInOrder = ring.desk.call("GET", key, key: key) == .text(expected)
            #expect(isInOrder)
        }
        #expect(ring.desk.detours("moved") > 0)
        #expect(ring.desk.detours("ask") > 0)
    }

    @Test func aReaderFollowsItsStream() throws {
        let ring = try Ring()
        let key = "rides:{7}"
        let target = (ring.owner(of: key) + 1) % 3
        let reader = ring.desk.client.openReader(key: key)
        #expect(ring.desk.call("XADD", key, "1-1", "event", "{}", key: key) == .text("1-1"))
        var read: [Seen] = []
        func readAfter(_ identifier: String) {
            reader.send(
                .of(["XREAD", "BLOCK", "20000", "STREAMS", key, identifier]), blockMilliseconds: 20_000
            ) { read.append(Seen($0)) }
        }
        readAfter("0-0")
        ring.desk.drive { read.count == 1 }
        readAfter("1-1")
        try ring.beginMove(key, to: target)
        try ring.carry(key, to: target)
        try ring.endMove(key, to: target)
        #expect(ring.desk.call("XADD", key, "1-2", "event", "{}", key: key) == .text("1-2"))
        ring.desk.drive { read.count == 2 }
        let entry = Seen.array([.text("1-2"), .array([.text("event"), .text("{}")])])
        #expect(read[1] == .array([.array([.text(key), .array([entry])])]))
    }

    @Test func aMasterThatDiesIsFollowedByItsReplica() throws {
        let ring = try Ring()
        let key = "rides:{7}"
        let owner = ring.owner(of: key)
        let replica = try RedisServer(
            ["--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0"], kind: .clusterNode)
        try replica.call("CLUSTER", "MEET", "127.0.0.1", "\(ring.nodes[owner].port)")
        ring.desk.eventually { try replica.call("CLUSTER", "REPLICATE", ring.identifiers[owner]) == .text("OK") }
        for node in ring.nodes { try node.call("CONFIG", "SET", "repl-diskless-sync-delay", "0") }
        #expect(ring.desk.call("SET", key, "1", key: key) == .text("OK"))
        #expect(try ring.nodes[owner].call("WAIT", "1", "20000") == .integer(1))
        ring.desk.eventually {
            try ring.nodes.allSatisfy {
                try $0.call("CLUSTER", "INFO").text?.contains("cluster_known_nodes:4") == true
            }
        }
        ring.nodes[owner].kill()
        ring.desk.callUntil(.text("OK"), "SET", key, "2", key: key)
        #expect(try replica.call("GET", key) == .text("2"))
    }

    @Test func aSingleServerIsNoCluster() throws {
        let server = try RedisServer()
        let fault = Desk(RedisSettings(.cluster([RedisAddress("127.0.0.1", server.port)]))).fault()
        #expect(fault?.kind == .cluster)
        #expect(
            fault?.description
                == "Redis at 127.0.0.1:\(server.port) is not part of a cluster (ERR This instance has cluster support disabled); "
                + "address it as a single server, or start it with cluster-enabled yes")
    }

    @Test func slotsWithoutANodeAreCounted() throws {
        let node = try RedisServer(kind: .clusterNode)
        try node.call("CLUSTER", "ADDSLOTSRANGE", "0", "16000")
        let fault = Desk(RedisSettings(.cluster([RedisAddress("127.0.0.1", node.port)]))).fault()
        #expect(fault?.kind == .cluster)
        #expect(
            fault?.problem
                == "the cluster of 127.0.0.1:\(node.port) has no node for 383 of 16384 slots")
    }
}
