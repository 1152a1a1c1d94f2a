import RedisFixture
import Testing

@testable import RedisClient

@Suite struct SentinelTests {
    /// A master, a replica that has all of it, and a Sentinel that knows both.
    private final class Watch {
        let master: RedisServer
        let replica: RedisServer
        let sentinel: RedisServer
        let desk: Desk

        init(_ masterName: String = "rides") throws {
            master = try RedisServer()
            replica = try RedisServer(["--replicaof", "127.0.0.1", "\(master.port)", "--repl-diskless-sync-delay", "0"])
            try master.call("CONFIG", "SET", "repl-diskless-sync-delay", "0")
            sentinel = try RedisServer(kind: .sentinel)
            try master.call("SET", "k", "v")
            #expect(try master.call("WAIT", "1", "20000") == .integer(1))
            try sentinel.call("SENTINEL", "MONITOR", "rides", "127.0.0.1", "\(master.port)", "1")
            try sentinel.call("SENTINEL", "SET", "rides", "down-after-milliseconds", "1000", "failover-timeout", "3000")
            var settings = RedisSettings(
                .sentinel([RedisAddress("127.0.0.1", 1), RedisAddress("127.0.0.1", sentinel.port)], master: masterName))
            settings.reconnectDelayMilliseconds = 5
            settings.reconnectDelayMaxMilliseconds = 50
            desk = Desk(settings)
        }

        func sentinelKnowsReplica() {
            desk.eventually {
                let replicas = try sentinel.call("SENTINEL", "REPLICAS", "rides").elements
                return replicas.contains { replica in
                    let words = replica.elements.map { $0.text ?? "" }
                    return words.contains("ok") && words.contains("slave")
                }
            }
        }
    }

    @Test func theMasterIsFoundAlsoWhenTheFirstSentinelIsGone() throws {
        let watch = try Watch()
        #expect(watch.desk.call("GET", "k") == .text("v"))
        #expect(watch.desk.call("ROLE") != nil)
        #expect(watch.desk.client.status == .connected)
    }

    @Test func aMasterThatDiesIsFollowedByItsReplica() throws {
        let watch = try Watch()
        #expect(watch.desk.call("SET", "k", "2") == .text("OK"))
        #expect(try watch.master.call("WAIT", "1", "20000") == .integer(1))
        watch.sentinelKnowsReplica()
        watch.master.kill()
        watch.desk.callUntil(.text("OK"), "SET", "k", "3")
        #expect(try watch.replica.call("GET", "k") == .text("3"))
    }

    @Test func aMasterThatIsDemotedIsLeft() throws {
        let watch = try Watch()
        let reader = watch.desk.client.openReader(key: nil)
        #expect(watch.desk.call("SET", "k", "2") == .text("OK"))
        watch.sentinelKnowsReplica()
        // The Sentinel may have found its replica just now, and not yet good enough.
        watch.desk.eventually { try watch.sentinel.call("SENTINEL", "FAILOVER", "rides") == .text("OK") }
        watch.desk.eventually { try watch.replica.call("ROLE").elements.first == .text("master") }
        watch.desk.eventually { try watch.master.call("ROLE").elements.first == .text("slave") }
        watch.desk.callUntil(.text("OK"), "SET", "k", "3")
        #expect(try watch.replica.call("GET", "k") == .text("3"))
        // The reader has followed, too.
        var roles: [Seen] = []
        reader.send(RedisCommand("ROLE"), blockMilliseconds: 0) { roles.append(Seen($0)) }
        watch.desk.drive { !roles.isEmpty }
        guard case .array(let role) = roles[0] else {
            Issue.record("\(roles)")
            return
        }
        #expect(role[0] == .text("master"))
    }

    @Test func aMasterThatOnlyReadsIsReportedAndAskedAfter() throws {
        let watch = try Watch()
        #expect(watch.desk.call("SET", "k", "2") == .text("OK"))
        // Demoted by hand, behind the Sentinel's back: it goes on naming it, and its role gives it away.
        try watch.replica.call("REPLICAOF", "NO", "ONE")
        try watch.master.call("REPLICAOF", "127.0.0.1", "\(watch.replica.port)")
        let refusals = watch.desk.begin("SET", "k", "3")
        watch.desk.drive { !refusals.seen.isEmpty }
        #expect(refusals.seen == [.refused("READONLY")] || refusals.seen == [.lost] || refusals.seen == [.unsent])
        #expect(watch.desk.fault()?.kind == .notMaster)
    }

    @Test func aNameThatNoSentinelKnowsIsNamed() throws {
        let watch = try Watch("orders")
        let fault = watch.desk.fault()
        #expect(fault?.kind == .noMaster)
        #expect(
            fault?.description
                == "no Sentinel names a master orders: Sentinel at 127.0.0.1:\(watch.sentinel.port) knows no master named orders; "
                + "check the name against its `sentinel monitor`")
    }
}
