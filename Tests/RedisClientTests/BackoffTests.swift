import Testing

@testable import RedisClient

@Suite struct BackoffTests {
    private struct Lot: RandomNumberGenerator {
        var state: UInt64 = 1
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 32
        }
    }

    @Test func delaysDoubleUpToTheLimitAndHalfOfEachIsDrawn() {
        var generator = Lot()
        var drawn: [Set<Int64>] = Array(repeating: [], count: 8)
        for _ in 0..<200 {
            var backoff = Backoff(firstMilliseconds: 100, mostMilliseconds: 5_000)
            for attempt in drawn.indices { drawn[attempt].insert(backoff.nextMilliseconds(using: &generator)) }
        }
        for (delays, whole) in zip(drawn, [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000] as [Int64]) {
            #expect(delays.allSatisfy { $0 >= whole / 2 && $0 <= whole })
            #expect(delays.count > 30)
        }
    }

    @Test func anHourOfFailuresOverflowsNothing() {
        var generator = Lot()
        var backoff = Backoff(firstMilliseconds: 100, mostMilliseconds: 5_000)
        let delays = (0..<10_000).map { _ in backoff.nextMilliseconds(using: &generator) }
        #expect(delays.dropFirst(6).allSatisfy { $0 >= 2_500 && $0 <= 5_000 })
    }

    @Test func successBeginsAnew() {
        var generator = Lot()
        var backoff = Backoff(firstMilliseconds: 100, mostMilliseconds: 5_000)
        for _ in 0..<5 { _ = backoff.nextMilliseconds(using: &generator) }
        backoff.reset()
        let delay = backoff.nextMilliseconds(using: &generator)
        #expect(delay <= 100)
    }
}
