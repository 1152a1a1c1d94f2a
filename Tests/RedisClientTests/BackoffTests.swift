import Testing

@testable import RedisClient

@Suite struct BackoffTests {
    /// Always the same answer.
    private struct Lot: RandomNumberGenerator {
        let value: UInt64
        mutating func next() -> UInt64 { value }
    }

    private func delays(_ lot: UInt64, count: Int) -> [Int64] {
        var backoff = Backoff(firstMilliseconds: 100, mostMilliseconds: 5_000)
        var generator = Lot(value: lot)
        return (0..<count).map { _ in backoff.nextMilliseconds(using: &generator) }
    }

    @Test func delaysDoubleUpToTheLimitAndHalfOfEachIsDrawn() {
        #expect(delays(0, count: 8) == [50, 100, 200, 400, 800, 1_600, 2_500, 2_500])
        #expect(delays(.max, count: 8) == [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000])
    }

    @Test func anHourOfFailuresOverflowsNothing() {
        #expect(delays(.max, count: 10_000).last == 5_000)
    }

    @Test func successBeginsAnew() {
        var backoff = Backoff(firstMilliseconds: 100, mostMilliseconds: 5_000)
        var generator = Lot(value: .max)
        for _ in 0..<5 { _ = backoff.nextMilliseconds(using: &generator) }
        backoff.reset()
        let delay = backoff.nextMilliseconds(using: &generator)
        #expect(delay == 100)
    }
}
