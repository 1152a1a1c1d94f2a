import Telemetry
import Testing

@testable import Pacing

@Suite("Starts through the token of a user, for the next owner")
struct UserStartTests {
    private let ride = EventBuilder()

    private func bench() -> CheckpointBench {
        let bench = CheckpointBench(asksRegistry: true)
        bench.apply(
            ride.started(0, .user("anna"), fields: ["status": "new"], alert: .saying("On its way"), type: "Ride"),
            offset: 0)
        return bench
    }

    private func answer(_ bench: CheckpointBench, _ token: UInt8) {
        for errand in bench.shard.takeErrands() {
            switch errand.kind {
            case .startToken:
                _ = bench.shard.takeStartToken(
                    .of(token), registeredAtMilliseconds: bench.now, for: errand, at: bench.instant)
            case .takeStart: bench.shard.grantStart(errand, at: bench.instant)
            case .begin, .end, .forgetStartToken: break
            }
        }
        bench.pump()
    }

    @Test("who waits for it when the owner goes is asked for again, and is due at once")
    func waiting() {
        let bench = bench()
        #expect(bench.shard.takeErrands().count == 2)
        #expect(bench.store[Array("ride-1".utf8)]?.dueMilliseconds == bench.now)
        bench.saveAll()
        bench.changeOwner()
        #expect(
            bench.shard.takeErrands().map(\.kind) == [
                .begin(key: Array("ride-1".utf8)), .startToken(user: "anna", app: ""),
            ])
        bench.pump()
        #expect(bench.updates.isEmpty)
    }

    @Test("what it waits for is explained: a token, the count of the start, the budget of its phone")
    func explained() throws {
        let bench = CheckpointBench(asksRegistry: true, journal: Journal(byteLimit: 1 << 20))
        bench.apply(
            ride.started(0, .user("anna"), fields: ["status": "new"], alert: .saying("On its way"), type: "Ride"),
            offset: 0)
        func gates() throws -> [ExplainedGate.Kind] {
            try #require(bench.shard.explanation(of: "ride-1", at: bench.instant)).situation.gates.map(\.kind)
        }
        #expect(try gates() == [.userToken])
        answer(bench, 8)
        #expect(try gates().contains(.startCount))
        for errand in bench.shard.takeErrands() {
            bench.shard.deferStart(errand, untilMilliseconds: bench.now + 60_000, at: bench.instant)
        }
        #expect(try gates().contains(.startBudget))
    }

    @Test("whose token was found and whose start has not left is asked for again: by now there may be a newer one")
    func found() {
        let bench = bench()
        for errand in bench.shard.takeErrands() {
            _ = bench.shard.takeStartToken(
                .of(9), registeredAtMilliseconds: bench.now, for: errand, at: bench.instant)
        }
        bench.pump()
        bench.saveAll()
        bench.changeOwner()
        answer(bench, 8)
        answer(bench, 8)
        #expect(bench.last?.target == .startToken(.of(8)))
        #expect(bench.last?.kind == .start)
    }

    @Test("a start that was about to leave is not repeated, and nobody is asked for its user")
    func attempted() {
        let bench = bench()
        bench.answer = { _ in nil }
        answer(bench, 9)
        answer(bench, 9)
        #expect(bench.updates.count == 1)
        bench.takeOver()
        bench.shard.noteCaughtUp(spreadMilliseconds: 0, at: bench.instant)
        #expect(bench.shard.takeErrands().map(\.kind) == [.begin(key: Array("ride-1".utf8))])
        bench.pump()
        #expect(bench.updates.count == 1)
        bench.answer = { _ in .accepted }
        bench.apply(ride.token(20, .of(1)), offset: 1)
        #expect(bench.last?.kind == .update)
    }

    @Test("the number of a start is the next one's after a renewal, whoever owns it")
    func renewals() {
        var pacing = PacingSettings.defaults
        pacing.renew = true
        let bench = CheckpointBench(pacing, asksRegistry: true)
        bench.apply(ride.started(0, .startToken(.of(9)), alert: .saying("x"), type: "Ride"), offset: 0)
        func number() -> UInt32? {
            let errands = bench.shard.takeErrands()
            for errand in errands {
                guard case .takeStart(_, _, let start) = errand.kind else { continue }
                bench.shard.grantStart(errand, at: bench.instant)
                bench.pump()
                return start
            }
            return nil
        }
        #expect(number() == 0)
        bench.run(to: 8 * 3_600 + 1)
        #expect(number() == 1)
        bench.run(to: 8 * 3_600 + 2)
        bench.saveAll()
        bench.changeOwner()
        bench.run(to: 16 * 3_600 + 3)
        #expect(number() == 2)
    }

    @Test("an activity that ends while it waits for the token, or for its phone, has no card to end")
    func endsMeanwhile() {
        let bench = bench()
        bench.apply(ride.ended(5), offset: 1)
        #expect(bench.shard.decisions[.unsendable] == 1)
        #expect(bench.shard.decisions.pending == 0)
        answer(bench, 9)
        #expect(bench.updates.isEmpty)
        #expect(!bench.shard.hasErrands)
    }
}
