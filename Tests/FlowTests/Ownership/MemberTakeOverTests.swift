import Pacing
import Testing

@testable import Flow

@Suite("A member that takes a partition over after an absence")
struct MemberTakeOverTests {
    /// A hundred rides have moved since their owner went, and the next one cannot load them for five seconds after its claim.
    private func caughtUpLate() -> (bench: GroupBench, looksForDue: Int, caughtUp: Int64) {
        let bench = GroupBench()
        let first = bench.join("a")
        bench.pass(300)
        for number in 0..<100 { bench.begin("ride-\(number)") }
        for number in 0..<100 { bench.position("ride-\(number)", north: 0) }
        bench.pass(1_000)
        first.isFrozen = true
        bench.store.fault = { if case .load = $0 { .unavailable } else { nil } }
        let looks = bench.store.asked["loadDue"] ?? 0
        let second = bench.join("b")
        for number in 0..<100 { bench.position("ride-\(number)", north: 0.01) }
        while bench.owned(by: second).isEmpty { bench.pass(100) }
        bench.pass(5_000)
        bench.store.fault = { _ in nil }
        return (bench, (bench.store.asked["loadDue"] ?? 0) - looks, bench.now)
    }

    @Test("begins the turns of what is routine when it has caught up")
    func turns() {
        let (bench, _, caughtUp) = caughtUpLate()
        #expect(bench.pushes.allSatisfy { $0.atMilliseconds < caughtUp - 10_000 })
        let before = bench.pushes.count
        bench.pass(30_000)
        let times = bench.pushes.dropFirst(before).map { $0.atMilliseconds - caughtUp }
        #expect(times.count == 100)
        // Silent for fifteen seconds and more, and so four or five a second for twenty-two, as chance has it.
        let busiest = (0..<30).map { second in times.count { $0 / 1_000 == second } }.max()!
        #expect(busiest <= 12)
        #expect(times.max()! > 15_000)
    }

    @Test("looks for what time alone made due once it has caught up")
    func due() {
        let (bench, looks, _) = caughtUpLate()
        #expect(looks == 0)
        let asked = bench.store.asked["loadDue"] ?? 0
        bench.pass(1_000)
        #expect(bench.store.asked["loadDue"] ?? 0 > asked)
    }

    @Test("tells what is urgent as soon as it has caught up")
    func urgent() {
        let (bench, _, caughtUp) = caughtUpLate()
        bench.status("ride-7", "near")
        bench.pass(1_000)
        let told = bench.pushes.filter { $0.update.isUrgent }
        #expect(told.map(\.update.activityIdentifier) == ["ride-7"])
        #expect(told.allSatisfy { $0.atMilliseconds - caughtUp <= 500 })
    }
}
