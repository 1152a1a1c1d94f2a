import Testing

@testable import Instruments

@Suite struct HistogramTests {
    @Test func bucketsJoinWithoutGapOrOverlap() {
        for index in 0..<Buckets.count {
            let last = Buckets.upperBound(of: index)
            #expect(Buckets.index(of: last) == index)
            #expect(index == Buckets.count - 1 || Buckets.index(of: last + 1) == index + 1)
        }
        #expect(Buckets.upperBound(of: Buckets.count - 1) == Buckets.highest)
    }

    @Test func whatIsOutOfRangeFallsIntoTheOuterBuckets() {
        #expect(Buckets.index(of: -5) == 0)
        #expect(Buckets.index(of: .min) == 0)
        #expect(Buckets.index(of: .max) == Buckets.count - 1)
    }

    @Test func aBucketIsNeverWiderThanAThirtySecondOfItsValues() {
        for index in 1..<Buckets.count {
            let lowest = Buckets.upperBound(of: index - 1) + 1
            #expect((Buckets.upperBound(of: index) - lowest) * 32 <= lowest)
        }
    }

    @Test func quantilesAreTheTrueOnesRoundedUpByAThirtySecondAtMost() throws {
        var numbers = SplitMix(seed: 7)
        for _ in 0..<50 {
            let values = (0..<1000).map { _ in Int64(numbers.next() % 1_000_000) }.sorted()
            var distribution = Distribution()
            for value in values { distribution.record(value) }
            for share in [0.5, 0.9, 0.99, 1] {
                let exact = values[Int((share * 1000).rounded(.up)) - 1]
                let read = try #require(distribution.quantile(share))
                #expect(read >= exact && read - exact <= exact / 32 + 1)
            }
        }
    }

    @Test func anEmptyDistributionHasNoQuantile() {
        #expect(Distribution().quantile(0.5) == nil)
    }

    @Test func mergedDistributionsAreTheDistributionOfAllValues() {
        var (left, right, all) = (Distribution(), Distribution(), Distribution())
        for value in [Int64(3), 70, 900_000] {
            left.record(value)
            all.record(value)
        }
        for value in [Int64(70), 5, 12] {
            right.record(value)
            all.record(value)
        }
        left.merge(right)
        #expect(left == all)
        #expect(left.count == 6 && left.sum == 900_160 && left.maximum == 900_000)
    }

    @Test func writersRecordIntoOneDistributionALabel() {
        let glass = Registry().histogram(
            "waypulse_glass_seconds", by: Urgency.self, unit: .microseconds, bounds: [1000], help: "Glass.")
        let (first, second) = (glass.writer(), glass.writer())
        first.record(1_500, .urgent)
        second.record(2_500, .urgent)
        second.record(-1, .routine)
        let urgent = glass.distribution(.urgent)
        #expect(urgent.count == 2 && urgent.sum == 4_000 && urgent.maximum == 2_500)
        #expect(urgent.quantile(1) == 2_500)
        #expect(glass.distribution(.routine).sum == 0)
        #expect(glass.distribution(.routine).count == 1)
    }
}

/// Steele, Lea, Flood: numbers that depend on the seed alone.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
