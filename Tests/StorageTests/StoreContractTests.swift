import Flow
import Pacing
import Storage
import Testing

/// What a member may rely on, whichever store it has.
@Suite("What a store promises")
struct StoreContractTests {
    @Test("who says that it lives is known until it leaves", arguments: StoreKind.allCases)
    func members(kind: StoreKind) throws {
        let bench = try kind.bench()
        #expect(try bench.ask("a", .beat).members == ["a"])
        #expect(try bench.ask("b", .beat).members == ["a", "b"])
        #expect(try bench.ask("a", .beat).members == ["a", "b"])
        _ = try bench.ask("a", .leave)
        #expect(try bench.ask("b", .beat).members == ["b"])
    }

    @Test("a partition that nobody has read is claimed without a past", arguments: StoreKind.allCases)
    func firstClaim(kind: StoreKind) throws {
        let bench = try kind.bench(topics: ["rides", "orders"])
        let claim = try #require(try bench.ask("a", .claim(partition: 3)).claim)
        #expect(claim.epoch > 0)
        #expect(claim.positions == [nil, nil])
        #expect(claim.absenceMilliseconds == nil)
    }

    @Test("a partition that is held is not claimed by another", arguments: StoreKind.allCases)
    func held(kind: StoreKind) throws {
        let bench = try kind.bench()
        _ = try bench.ask("a", .claim(partition: 3))
        guard case .held(let member, let milliseconds) = try bench.ask("b", .claim(partition: 3)) else {
            Issue.record("b was not told that a holds it")
            return
        }
        #expect(member == "a")
        #expect((1...10_000).contains(milliseconds))
        #expect(try bench.ask("b", .claim(partition: 4)).claim != nil)
    }

    @Test(
        "a member that claims what it holds has a higher epoch, and its own older one is void",
        arguments: StoreKind.allCases)
    func claimedAgain(kind: StoreKind) throws {
        let bench = try kind.bench()
        let first = try #require(try bench.ask("a", .claim(partition: 3)).claim)
        let second = try #require(try bench.ask("a", .claim(partition: 3)).claim)
        #expect(second.epoch > first.epoch)
        #expect(try bench.ask("a", .renew(partition: 3, first.epoch)).isLost)
        #expect(try bench.ask("a", .renew(partition: 3, second.epoch)).isRenewed)
    }

    @Test("what is released is free, with its positions, and no longer its owner's", arguments: StoreKind.allCases)
    func released(kind: StoreKind) throws {
        let bench = try kind.bench(topics: ["rides", "orders"])
        let first = try #require(try bench.ask("a", .claim(partition: 3)).claim)
        let settled = SettledPosition(offset: 1_800_000_000_000 << 20 | 7, records: 12)
        let batch = CheckpointBatch([Kept("x", "one")], positions: [nil, settled])
        #expect(try bench.ask("a", .save(partition: 3, first.epoch, batch)).isSaved)
        #expect(try bench.ask("a", .release(partition: 3, first.epoch)).isReleased)
        #expect(try bench.ask("a", .renew(partition: 3, first.epoch)).isLost)
        #expect(try bench.ask("a", .save(partition: 3, first.epoch, CheckpointBatch([Kept("x", "two")]))).isLost)

        let second = try #require(try bench.ask("b", .claim(partition: 3)).claim)
        #expect(second.epoch > first.epoch)
        #expect(second.positions == [nil, settled])
        #expect(try #require(second.absenceMilliseconds) >= 0)
        #expect(try bench.ask("b", .load(partition: 3, second.epoch, [.activity("x")])).loaded == ["x": "one"])
    }

    @Test("a lease that lapsed harms nobody while nobody wants the partition", arguments: StoreKind.allCases)
    func lapsed(kind: StoreKind) throws {
        let bench = try kind.bench()
        let claim = try #require(try bench.ask("a", .claim(partition: 3)).claim)
        try bench.lapse(3)
        #expect(try bench.ask("b", .renew(partition: 3, claim.epoch)).isLost)
        #expect(try bench.ask("a", .save(partition: 3, claim.epoch, CheckpointBatch([Kept("x", "one")]))).isSaved)
        #expect(try bench.ask("a", .renew(partition: 3, claim.epoch)).isRenewed)
        guard case .held = try bench.ask("b", .claim(partition: 3)) else {
            Issue.record("the renewal gave no lease")
            return
        }
    }

    @Test(
        "a store that does not know what it called saved says so, and writes nothing but the lease",
        arguments: StoreKind.allCases)
    func behind(kind: StoreKind) throws {
        let bench = try kind.bench()
        let claim = try #require(try bench.ask("a", .claim(partition: 3)).claim)
        let first = CheckpointBatch([Kept("x", "one")], positions: [SettledPosition(offset: 1 << 20, records: 1)])
        #expect(try bench.ask("a", .save(partition: 3, claim.epoch, first)).isSaved)
        let forgotten = first.serial + 1
        let next = CheckpointBatch(
            [Kept("x", "three")], positions: [SettledPosition(offset: 3 << 20, records: 3)], serial: forgotten + 1,
            acknowledged: forgotten)
        #expect(try bench.ask("a", .save(partition: 3, claim.epoch, next)).isBehind)
        #expect(try bench.ask("a", .renew(partition: 3, claim.epoch, acknowledged: forgotten)).isBehind)
        #expect(try bench.ask("a", .release(partition: 3, claim.epoch, acknowledged: forgotten)).isBehind)
        #expect(try bench.ask("a", .load(partition: 3, claim.epoch, [.activity("x")])).loaded == ["x": "one"])
        #expect(try bench.ask("b", .claim(partition: 3)).claim == nil)

        #expect(try bench.ask("a", .renew(partition: 3, claim.epoch, acknowledged: first.serial)).isRenewed)
        let again = CheckpointBatch([Kept("x", "three")], serial: forgotten + 2, acknowledged: 0)
        #expect(try bench.ask("a", .save(partition: 3, claim.epoch, again)).isSaved)
        // One that was held up on its way is done with, whatever it says.
        #expect(try bench.ask("a", .save(partition: 3, claim.epoch, next)).isSaved)
        #expect(try bench.ask("a", .release(partition: 3, claim.epoch, acknowledged: again.serial)).isReleased)
        #expect(
            try bench.ask("b", .claim(partition: 3)).claim?.positions == [SettledPosition(offset: 1 << 20, records: 1)])
    }

    @Test("an owner that the store has forgotten is told so, and may claim again", arguments: StoreKind.allCases)
    func forgotten(kind: StoreKind) throws {
        let bench = try kind.bench()
        let claim = try #require(try bench.ask("a", .claim(partition: 3)).claim)
        let later = claim.epoch + 1_000
        #expect(try bench.ask("a", .renew(partition: 3, later)).isForgotten)
        #expect(try bench.ask("a", .release(partition: 3, later)).isForgotten)
        #expect(try bench.ask("a", .save(partition: 3, later, CheckpointBatch([Kept("x", "one")]))).isForgotten)
        #expect(try bench.ask("a", .load(partition: 3, later, [.activity("x")])).isForgotten)
        // Of a partition of which nothing is kept at all.
        #expect(try bench.ask("a", .renew(partition: 5, later)).isForgotten)
        #expect(try bench.ask("a", .renew(partition: 3, claim.epoch)).isRenewed)
        #expect(try #require(try bench.ask("a", .claim(partition: 3)).claim).epoch > claim.epoch)
    }

    @Test("a heartbeat tells whether its member was known", arguments: StoreKind.allCases)
    func known(kind: StoreKind) throws {
        let bench = try kind.bench()
        func isNew(_ member: String) throws -> Bool? {
            if case .alive(_, let isNew) = try bench.ask(member, .beat) { isNew } else { nil }
        }
        #expect(try isNew("a") == true)
        #expect(try isNew("b") == true)
        #expect(try isNew("a") == false)
        _ = try bench.ask("a", .leave)
        #expect(try isNew("a") == true)
    }

    @Test(
        "who wakes after another took its partition writes nothing and learns that it is lost",
        arguments: StoreKind.allCases)
    func zombie(kind: StoreKind) throws {
        let bench = try kind.bench()
        let old = try #require(try bench.ask("a", .claim(partition: 3)).claim)
        let before = CheckpointBatch(
            [Kept("x", "old", due: 5)], positions: [SettledPosition(offset: 1 << 20, records: 1)])
        #expect(try bench.ask("a", .save(partition: 3, old.epoch, before)).isSaved)
        try bench.lapse(3)
        let new = try #require(try bench.ask("b", .claim(partition: 3)).claim)

        let late = CheckpointBatch(
            [Kept("x", "late", due: 9, subject: "s"), Kept("y", "late")],
            positions: [SettledPosition(offset: 9 << 20, records: 9)])
        #expect(try bench.ask("a", .save(partition: 3, old.epoch, late)).isLost)
        #expect(try bench.ask("a", .load(partition: 3, old.epoch, [.activity("x")])).isLost)
        #expect(
            try bench.ask("a", .loadDue(partition: 3, old.epoch, fromMilliseconds: 0, throughMilliseconds: 9, limit: 9))
                .isLost)
        #expect(try bench.ask("a", .renew(partition: 3, old.epoch)).isLost)
        #expect(try bench.ask("a", .release(partition: 3, old.epoch)).isLost)
        // Nor with an epoch that it never had.
        #expect(try bench.ask("a", .save(partition: 3, new.epoch, late)).isLost)
        #expect(try bench.ask("a", .save(partition: 3, new.epoch + 1, late)).isForgotten)

        let keys: [LoadKey] = [.activity("x"), .activity("y"), .subject("s")]
        #expect(try bench.ask("b", .load(partition: 3, new.epoch, keys)).loaded == ["x": "old"])
        #expect(
            try bench.ask("b", .loadDue(partition: 3, new.epoch, fromMilliseconds: 0, throughMilliseconds: 9, limit: 9))
                .due
                == ["x at 5"])
        #expect(try bench.ask("b", .release(partition: 3, new.epoch)).isReleased)
        #expect(
            try bench.ask("c", .claim(partition: 3)).claim?.positions == [SettledPosition(offset: 1 << 20, records: 1)])
    }

    @Test(
        "a batch that was held up on its way undoes nothing, and a new owner counts anew", arguments: StoreKind.allCases
    )
    func lateBatch(kind: StoreKind) throws {
        let bench = try kind.bench()
        func batch(_ text: String, _ serial: UInt64) -> CheckpointBatch {
            CheckpointBatch(
                [Kept("x", text)], positions: [SettledPosition(offset: Int64(serial) << 20, records: 1)], serial: serial
            )
        }
        let first = try #require(try bench.ask("a", .claim(partition: 0)).claim)
        #expect(try bench.ask("a", .save(partition: 0, first.epoch, batch("newer", 2))).isSaved)
        for serial in [1, 2] as [UInt64] {
            #expect(try bench.ask("a", .save(partition: 0, first.epoch, batch("late", serial))).isSaved)
        }
        #expect(try bench.ask("a", .load(partition: 0, first.epoch, [.activity("x")])).loaded == ["x": "newer"])
        let second = try #require(try bench.ask("a", .claim(partition: 0)).claim)
        #expect(second.positions == [SettledPosition(offset: 2 << 20, records: 1)])
        #expect(try bench.ask("a", .save(partition: 0, second.epoch, batch("next", 1))).isSaved)
        #expect(try bench.ask("a", .load(partition: 0, second.epoch, [.activity("x")])).loaded == ["x": "next"])
    }

    @Test("ids and checkpoints are any bytes", arguments: StoreKind.allCases)
    func anyBytes(kind: StoreKind) throws {
        let bench = try kind.bench()
        let claim = try #require(try bench.ask("a", .claim(partition: 0)).claim)
        var all = Kept("", "", due: 1)
        all.id = Array(0...127)
        all.checkpoint = Array(0...255) + Array(repeating: 0, count: 100_000) + Array("\r\n$5\r\n".utf8)
        all.subject = Array((128...255).reversed())
        #expect(try bench.ask("a", .save(partition: 0, claim.epoch, CheckpointBatch([all]))).isSaved)
        let requests: [StoreRequest] = [
            .load(partition: 0, claim.epoch, [LoadKey(identifier: all.id)]),
            .load(partition: 0, claim.epoch, [LoadKey(identifier: all.subject, isSubject: true)]),
            .loadDue(partition: 0, claim.epoch, fromMilliseconds: 1, throughMilliseconds: 1, limit: 1),
        ]
        for request in requests {
            guard case .loaded(let found) = try bench.ask("a", request) else {
                Issue.record("not loaded")
                return
            }
            #expect(found.map(\.identifier) == [all.id])
            #expect(found.map(\.bytes) == [all.checkpoint])
        }
    }

    @Test("a position that has not changed stays, and one may go far", arguments: StoreKind.allCases)
    func positions(kind: StoreKind) throws {
        let bench = try kind.bench(topics: ["rides", "orders"])
        let claim = try #require(try bench.ask("a", .claim(partition: 0)).claim)
        let near = SettledPosition(offset: 0, records: 0)
        let far = SettledPosition(offset: Int64.max, records: Int64.max)
        for positions in [[near, nil], [nil, far], [nil, nil]] as [[SettledPosition?]] {
            #expect(
                try bench.ask("a", .save(partition: 0, claim.epoch, CheckpointBatch([], positions: positions))).isSaved)
        }
        #expect(try bench.ask("a", .claim(partition: 0)).claim?.positions == [near, far])
    }

    @Test(
        "a subject's followers are found by it, once each, and no more when they follow it no more",
        arguments: StoreKind.allCases)
    func followers(kind: StoreKind) throws {
        let bench = try kind.bench()
        let epoch = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        func save(_ kept: Kept...) throws {
            #expect(try bench.ask("a", .save(partition: 0, epoch, CheckpointBatch(kept))).isSaved)
        }
        func load(_ keys: LoadKey...) throws -> [String: String]? {
            try bench.ask("a", .load(partition: 0, epoch, keys)).loaded
        }

        try save(
            Kept("x", "1", subject: "s"), Kept("y", "1", subject: "s"), Kept("z", "1", subject: "t"), Kept("s", "own"))
        #expect(try load(.subject("s")) == ["x": "1", "y": "1"])
        #expect(try load(.subject("s"), .activity("y"), .activity("s")) == ["x": "1", "y": "1", "s": "own"])
        #expect(try load(.subject("s"), .subject("t"), .subject("nobody")) == ["x": "1", "y": "1", "z": "1"])

        try save(Kept("x", "2", subject: "t", formerSubject: "s"), Kept("y", "2", formerSubject: "s"))
        #expect(try load(.subject("s")) == [:])
        #expect(try load(.subject("t")) == ["x": "2", "z": "1"])
        #expect(try load(.activity("y"), .activity("nobody")) == ["y": "2"])
    }

    @Test("what comes due is found by its time, the earliest first", arguments: StoreKind.allCases)
    func due(kind: StoreKind) throws {
        let bench = try kind.bench()
        let epoch = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        func due(_ from: Int64, _ through: Int64, limit: Int = 100) throws -> [String]? {
            try bench.ask(
                "a", .loadDue(partition: 0, epoch, fromMilliseconds: from, throughMilliseconds: through, limit: limit)
            ).due
        }
        let far: Int64 = 1 << 53 - 1
        let batch = CheckpointBatch([
            Kept("late", "1", due: 3_000), Kept("soon", "1", due: 1_000), Kept("mid", "1", due: 2_000),
            Kept("never", "1"),
            Kept("far", "1", due: far),
        ])
        #expect(try bench.ask("a", .save(partition: 0, epoch, batch)).isSaved)
        #expect(try due(0, 3_000) == ["soon at 1000", "mid at 2000", "late at 3000"])
        #expect(try due(1_000, 2_000) == ["soon at 1000", "mid at 2000"])
        #expect(try due(1_001, 1_999) == [])
        #expect(try due(3_000, 1_000) == [])
        #expect(try due(0, 3_000, limit: 2) == ["soon at 1000", "mid at 2000"])
        #expect(try due(0, 3_000, limit: 0) == [])
        #expect(try due(3_001, .max) == ["far at \(far)"])

        let moved = CheckpointBatch([Kept("soon", "2"), Kept("mid", "2", due: 5_000)])
        #expect(try bench.ask("a", .save(partition: 0, epoch, moved)).isSaved)
        #expect(try due(0, 9_000) == ["late at 3000", "mid at 5000"])
    }

    @Test(
        "what is kept for a time is gone after it: by its id, its subject and its due time",
        arguments: StoreKind.allCases)
    func timeToLive(kind: StoreKind) throws {
        let bench = try kind.bench()
        let epoch = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        let batch = CheckpointBatch([
            Kept("over", "1", due: 5, timeToLive: 60_000, subject: "s"), Kept("alive", "1", due: 6, subject: "s"),
            Kept("revived", "1", due: 7, timeToLive: 60_000, subject: "s"),
        ])
        #expect(try bench.ask("a", .save(partition: 0, epoch, batch)).isSaved)
        #expect(try bench.ask("a", .load(partition: 0, epoch, [.subject("s")])).loaded?.count == 3)
        let revived = CheckpointBatch([Kept("revived", "2", due: 7, subject: "s")])
        #expect(try bench.ask("a", .save(partition: 0, epoch, revived)).isSaved)

        try bench.outlive(0, "over")
        for _ in 1...2 {
            let keys: [LoadKey] = [.activity("over"), .subject("s")]
            #expect(try bench.ask("a", .load(partition: 0, epoch, keys)).loaded == ["alive": "1", "revived": "2"])
            #expect(
                try bench.ask("a", .loadDue(partition: 0, epoch, fromMilliseconds: 0, throughMilliseconds: 9, limit: 2))
                    .due
                    == ["alive at 6", "revived at 7"])
        }
    }

    @Test("thousands at once are saved and found", arguments: StoreKind.allCases)
    func many(kind: StoreKind) throws {
        let bench = try kind.bench()
        let epoch = try #require(try bench.ask("a", .claim(partition: 0)).claim).epoch
        let kept: [Kept] = (1...5_001).map { (number: Int) -> Kept in
            let due: Int64? = number % 3 == 0 ? Int64(number) : nil
            let timeToLive: Int64? = number % 2 == 0 ? 600_000 : nil
            return Kept(
                "activity-\(number)", "checkpoint \(number)", due: due, timeToLive: timeToLive, subject: "everybody")
        }
        #expect(try bench.ask("a", .save(partition: 0, epoch, CheckpointBatch(kept))).isSaved)
        let all = Dictionary(uniqueKeysWithValues: (1...5_001).map { ("activity-\($0)", "checkpoint \($0)") })
        let keys = (1...5_001).map { LoadKey.activity("activity-\($0)") }
        #expect(try bench.ask("a", .load(partition: 0, epoch, keys)).loaded == all)
        #expect(try bench.ask("a", .load(partition: 0, epoch, [.subject("everybody")])).loaded == all)
        let due = try bench.ask(
            "a", .loadDue(partition: 0, epoch, fromMilliseconds: 0, throughMilliseconds: .max, limit: 5_000)
        ).due
        #expect(due == (1...1_667).map { "activity-\($0 * 3) at \($0 * 3)" })
    }
}
