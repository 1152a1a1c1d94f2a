import Pacing
import Testing

@testable import Flow

@Suite("An activity that another one replaces, of a partition that was taken over")
struct MemberReplacingTests {
    /// The owner that began `order-1` is gone, and the next one has never heard of it.
    private func takenOver() -> GroupBench {
        let bench = GroupBench()
        let first = bench.join("a")
        bench.pass(300)
        bench.begin("order-1")
        bench.pass(1_000)
        first.isFrozen = true
        let second = bench.join("b")
        while bench.owned(by: second).isEmpty { bench.pass(100) }
        return bench
    }

    private func start(_ bench: GroupBench) {
        bench.publish(
            "activity.started", "order-2",
            #""attributesType":"Ride","startToken":"\#(String(repeating: "ab", count: 32))","alert":{"title":"x"},"replaces":"order-1""#
        )
    }

    @Test("is loaded and ended, and the start of the other leaves after its end")
    func loaded() {
        let bench = takenOver()
        let loads = bench.store.asked["load"] ?? 0
        start(bench)
        bench.pass(2_000)
        #expect(bench.store.asked["load"] ?? 0 > loads)
        #expect(bench.pushes.suffix(2).map(\.update.kind) == [.end, .start])
        #expect(bench.pushes.suffix(2).map(\.update.activityIdentifier) == ["order-1", "order-2"])
    }

    @Test("is asked for until the store can say, and the start waits as long")
    func outOfReach() {
        let bench = takenOver()
        bench.store.fault = { if case .load(_, _, let keys) = $0, keys.count == 1 { .unavailable } else { nil } }
        start(bench)
        bench.pass(5_000)
        #expect(!bench.pushes.contains { $0.update.kind == .start })
        bench.store.fault = { _ in nil }
        bench.pass(5_000)
        #expect(bench.pushes.suffix(2).map(\.update.kind) == [.end, .start])
    }
}
