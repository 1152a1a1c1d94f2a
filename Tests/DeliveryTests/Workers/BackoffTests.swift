import Flow
import Testing

@testable import Delivery

@Suite("Delays before connecting again")
struct BackoffTests {
    @Test("Doubled each time up to the longest, each drawn from its upper half")
    func doubles() {
        var random = SplitMix(seed: 1)
        for _ in 0..<500 {
            var backoff = Backoff(firstMilliseconds: 500, longestMilliseconds: 60_000)
            for whole: Int64 in [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000] {
                #expect((whole / 2...whole).contains(backoff.failed(random: random.next())))
            }
        }
    }

    @Test("Both ends can be drawn")
    func ends() {
        func first(_ random: UInt64) -> Int64 {
            var backoff = Backoff(firstMilliseconds: 500, longestMilliseconds: 60_000)
            return backoff.failed(random: random)
        }
        #expect(first(0) == 250)
        #expect(first(250) == 500)
        #expect(first(251) == 250)
        #expect((250...500).contains(first(.max)))
    }

    @Test("A success begins anew; ten thousand failures do not overflow")
    func success() {
        var backoff = Backoff(firstMilliseconds: 500, longestMilliseconds: 60_000)
        for _ in 0..<10_000 { #expect((250...60_000).contains(backoff.failed(random: .max))) }
        backoff.succeeded()
        #expect(backoff.failed(random: 0) == 250)
    }
}
