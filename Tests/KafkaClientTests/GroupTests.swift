import CRdkafka
import KafkaFixture
import Testing

@testable import KafkaClient

@Suite struct GroupTests {
    private let cluster = MockCluster()

    private func bench(partitions: Int = 4) throws -> Bench {
        cluster.make(topic: "rides", partitions: partitions)
        let bench = Bench(cluster)
        for partition in 0..<Int32(partitions) {
            try bench.produce((0..<20).map { "\(partition):\($0)" }, to: "rides", partition)
        }
        return bench
    }

    private func rides(_ partitions: Int32...) -> [KafkaTopicPartition] {
        partitions.map { KafkaTopicPartition("rides", $0) }
    }

    @Test func aMemberAloneReadsAllAndTheNextGoesOnBehindIt() throws {
        let bench = try bench()
        let first = try Rider(bench)
        bench.ride(first, until: { first.count == 80 })
        #expect(first.events.first == .assigned(rides(0, 1, 2, 3)))
        #expect(first.values[rides(2)[0]]?.last == "2:19")
        first.close()
        #expect(first.events.suffix(2) == [.revoked(rides(0, 1, 2, 3)), .released(rides(0, 1, 2, 3), nil)])

        try bench.produce(["new"], to: "rides", 3)
        let second = try Rider(bench)
        bench.ride(second, until: { second.count == 1 })
        #expect(second.values == [rides(3)[0]: ["new"]])
        second.close()
    }

    @Test(arguments: KafkaGroup.Assignment.allCases)
    func twoMembersShareAndNothingIsReadTwice(_ assignment: KafkaGroup.Assignment) throws {
        let bench = try bench()
        // The mock refuses commits in the middle of an eager rebalance; Kafka takes them.
        let ledger = Ledger()
        let first = try Rider(bench, ledger: ledger, membership: { $0.assignment = assignment })
        bench.ride(first, until: { first.count == 80 })
        let second = try Rider(bench, ledger: ledger, membership: { $0.assignment = assignment })
        bench.ride(first, second, until: { first.open.count == 2 && second.open.count == 2 })
        #expect((first.open + second.open).sorted() == [0, 1, 2, 3])
        for partition in 0..<Int32(4) { try bench.produce(["more"], to: "rides", partition) }
        bench.ride(first, second, until: { first.count + second.count == 84 })
        #expect(second.count == 2)
        // What moves is taken away, and with range everything.
        let revoked = first.events.compactMap { if case .revoked(let list) = $0 { list } else { nil } }
        #expect(revoked.first?.count == (assignment == .range ? 4 : 2))
        first.close()
        bench.ride(second, until: { second.open.count == 4 })
        second.close()
    }

    /// librdkafka before 2.3 aborts the process there (confluentinc/librdkafka#4312): that this ends is the test.
    @Test func aMemberThatLeavesBeforeItHadAnythingEndsWithoutHarm() throws {
        let bench = try bench()
        let first = try Rider(bench)
        bench.ride(first, until: { first.count == 80 })
        // Beyond the four partitions there is nothing to be had, and the round may not even have ended.
        let second = try Rider(bench)
        bench.ride(first, second, until: { first.open.count == 4 && second.member.status == .connected })
        second.close()
        #expect(!second.member.hasJoined)
        first.close()
    }

    @Test func thePartitionsThatStayAreReadWhileOneIsDrained() throws {
        let bench = try bench(partitions: 2)
        let ledger = Ledger()
        let first = try Rider(bench, ledger: ledger)
        first.holds = Set(rides(0, 1))
        bench.ride(first, until: { first.count == 40 })
        let second = try Rider(bench, ledger: ledger)
        bench.ride(first, second, until: { first.heard { if case .revoked = $0 { true } else { false } } })
        let moving = first.events.compactMap { if case .revoked(let list) = $0 { list.first } else { nil } }[0]
        let staying = moving.partition == 0 ? rides(1)[0] : rides(0)[0]
        try bench.produce(["while it drains"], to: "rides", staying.partition)
        try bench.produce(["for its next owner"], to: "rides", moving.partition)
        bench.ride(first, second, until: { first.values[staying]?.last == "while it drains" })
        #expect(first.values[moving]?.count == 20)
        #expect(second.open.isEmpty)
        first.release(moving)
        bench.ride(first, second, until: { second.count > 0 })
        #expect(second.values == [moving: ["for its next owner"]])
        #expect(first.values[moving]?.count == 20)
        first.holds = []
        first.close()
        second.close()
    }

    @Test func aMemberFetchesNothingItself() throws {
        let bench = try bench(partitions: 1)
        let rider = try Rider(bench)
        var queued: [Int64] = []
        rider.member.onStatistics = { queued += $0.partitions.map(\.queuedRecords) }
        bench.ride(rider, until: { rider.count == 20 && queued.count > 2 })
        #expect(queued.allSatisfy { $0 == 0 })
        rider.close()
    }

    @Test func aMemberThatTheGroupForgotLosesEverythingAndIsGivenItAgain() throws {
        let bench = try bench(partitions: 2)
        let rider = try Rider(bench)
        bench.ride(rider, until: { rider.count == 40 })
        cluster.fail(.heartbeat, [RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID])
        bench.ride(rider, until: { rider.heard { $0 == .lost(rides(0, 1)) } })
        #expect(!rider.heard { if case .revoked = $0 { true } else { false } })
        bench.ride(rider, until: { rider.open.count == 2 })
        try bench.produce(["again"], to: "rides", 0)
        bench.ride(rider, until: { rider.values[rides(0)[0]]?.last == "again" })
        #expect(bench.count("waypulse_kafka_rebalances_total", "lost") == 2)
        rider.close()
    }

    @Test func aReleaseWhoseCommitComesTooLateIsToldAndLetsGo() throws {
        let bench = try bench(partitions: 1)
        let rider = try Rider(bench, membership: { $0.commitIntervalMilliseconds = 60_000 })
        rider.holds = Set(rides(0))
        bench.ride(rider, until: { rider.count == 20 })
        var isClosed = false
        rider.member.close(withinMilliseconds: 30_000) { _ in isClosed = true }
        bench.ride(rider, until: { rider.heard { $0 == .revoked(rides(0)) } })
        cluster.fail(.offsetCommit, [RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION])
        rider.release(rides(0)[0])
        bench.drive(until: { isClosed })
        guard case .released(let partitions, let fault) = rider.events.last else {
            Issue.record("ends with \(rider.events)")
            return
        }
        #expect(partitions == rides(0))
        #expect(fault?.kind == .stale)
        #expect(bench.count("waypulse_kafka_commits_total", "stale") >= 1)
    }

    @Test func aCommitByTheClockThatFailsIsToldAndReadingGoesOn() throws {
        let bench = try bench(partitions: 1)
        let rider = try Rider(bench)
        cluster.fail(.offsetCommit, [RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED])
        bench.ride(
            rider, until: { rider.heard { if case .fault(let fault) = $0 { fault.kind == .forbidden } else { false } } }
        )
        try bench.produce(["on"], to: "rides", 0)
        bench.ride(rider, until: { rider.count == 21 })
        bench.ride(rider, until: { rider.heard { if case .committedAgain = $0 { true } else { false } } })
        #expect(bench.count("waypulse_kafka_commits_total", "committed") > 0)
        rider.close()
    }

    @Test func aFencedInstanceHasComeToItsEnd() throws {
        let bench = try bench(partitions: 1)
        let rider = try Rider(bench, membership: { $0.instanceID = "waypulse-0" })
        bench.ride(rider, until: { rider.count == 20 })
        cluster.fail(.heartbeat, [RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID])
        var fatal: KafkaFault?
        bench.ride(
            rider,
            until: {
                for case .fault(let fault) in rider.events where fault.isFatal { fatal = fault }
                return fatal != nil
            })
        #expect(fatal?.kind == .fenced)
        #expect(rider.member.status.isFailing)
        #expect(rider.close()?.kind == .fenced)
    }

    @Test func aTopicThatMayNotBeReadIsNamed() throws {
        let bench = try bench(partitions: 1)
        cluster.set(error: RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, ofTopic: "rides")
        let rider = try Rider(bench)
        var found: KafkaFault?
        bench.ride(
            rider,
            until: {
                for case .fault(let fault) in rider.events { found = fault }
                return found != nil
            })
        #expect(found?.kind == .forbidden)
        #expect(found?.problem.contains("rides") == true)
        rider.close()
    }

    @Test func whatTheGroupCommittedIsLookedUpWithoutHoldingTheLoop() throws {
        let bench = try bench(partitions: 2)
        let rider = try Rider(bench)
        bench.ride(rider, until: { rider.count == 40 })
        try bench.produce(["unread"], to: "rides", 1)
        var committed: [Int64?] = []
        func ask() {
            rider.member.committed(of: rides(0, 1)) { answer in
                committed = (try? answer.get()) ?? []
                // The clock may have committed one of them only.
                if committed != [20, 20] { ask() }
            }
        }
        ask()
        #expect(committed.isEmpty)
        bench.drive(until: { committed == [20, 20] })
        rider.close()
    }

    @Test func aCoordinatorThatMovesIsFollowed() throws {
        let cluster = MockCluster(brokers: 2)
        cluster.make(topic: "rides", partitions: 1)
        let bench = Bench(cluster)
        try bench.produce(["a"], to: "rides")
        cluster.move(coordinatorOf: "pulse", to: 1)
        let rider = try Rider(bench)
        bench.ride(rider, until: { rider.count == 1 })
        cluster.move(coordinatorOf: "pulse", to: 2)
        cluster.takeDown(broker: 1)
        cluster.move(leaderOf: "rides", 0, to: 2)
        let before = bench.count("waypulse_kafka_commits_total", "committed")
        try Bench([cluster.bootstrapServers[1]], cluster: cluster).produce(["b"], to: "rides")
        bench.ride(
            rider,
            until: { rider.count == 2 && bench.count("waypulse_kafka_commits_total", "committed") > before })
        rider.close()
    }

    @Test func aMemberWhoseLoopStandsStillLosesEverythingAndComesBack() throws {
        let bench = try bench(partitions: 2)
        let ledger = Ledger()
        func impatient(_ group: inout KafkaGroup) { group.pollIntervalMaxMilliseconds = 4_000 }
        let still = try Rider(bench, ledger: ledger, membership: impatient)
        bench.ride(still, until: { still.count == 40 })
        // From here on the first loop does not turn, until the second member has everything.
        let elsewhere = Bench(cluster)
        let other = try Rider(elsewhere, ledger: ledger)
        elsewhere.ride(other, until: { other.open.count == 2 })
        bench.ride(still, until: { still.heard { $0 == .lost(rides(0, 1)) } })
        #expect(!still.heard { if case .released = $0 { true } else { false } })
        var isShared = false
        while !isShared {
            bench.loop.runOnce(timeoutMilliseconds: 10)
            elsewhere.loop.runOnce(timeoutMilliseconds: 10)
            still.read()
            other.read()
            isShared = still.open.count == 1 && other.open.count == 1
        }
        other.close()
        still.close()
    }
}
