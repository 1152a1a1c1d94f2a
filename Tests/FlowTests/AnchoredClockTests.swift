import Pacing
import Testing

@testable import Flow

private let start: Int64 = 1_800_000_000_000

@Suite struct AnchoredClockTests {
    var clock = AnchoredClock(monotonicMilliseconds: 50, wallMilliseconds: start)

    @Test mutating func runsWithTheMonotonicClock() {
        let instant = clock.read(monotonicMilliseconds: 1_050, wallMilliseconds: start + 1_000)
        #expect(instant == Instant(milliseconds: start + 1_000))
        #expect(clock.steps == 0)
    }

    @Test mutating func aSmallDifferenceOfTheWallClockIsIgnored() {
        let instant = clock.read(monotonicMilliseconds: 1_050, wallMilliseconds: start + 3_000)
        #expect(instant.nowMilliseconds == start + 1_000)
        #expect(instant.wallMilliseconds == start + 3_000)
        #expect(clock.steps == 0)
    }

    @Test mutating func aStepForwardIsFollowedAtOnce() {
        let instant = clock.read(monotonicMilliseconds: 1_050, wallMilliseconds: start + 3_600_000)
        #expect(instant.nowMilliseconds == start + 3_600_000)
        #expect(clock.steps == 1)
    }

    @Test mutating func aStepBackIsFollowedByRunningSlower() {
        let hour: Int64 = 3_600_000
        let first = clock.read(monotonicMilliseconds: 50, wallMilliseconds: start - hour)
        #expect(first.nowMilliseconds == start)
        var previous = start
        for second in 1...100 {
            let passed = Int64(second) * 1_000
            let now = clock.read(monotonicMilliseconds: 50 + passed, wallMilliseconds: start - hour + passed)
                .nowMilliseconds
            #expect(now == start + passed - passed / 10)
            #expect(now > previous)
            previous = now
        }
        #expect(clock.steps == 1)
    }

    @Test mutating func slewingEndsAtTheWallClock() {
        _ = clock.read(monotonicMilliseconds: 50, wallMilliseconds: start - 5_000)
        let caughtUp = clock.read(monotonicMilliseconds: 50 + 50_000, wallMilliseconds: start - 5_000 + 50_000)
        #expect(caughtUp.nowMilliseconds == start + 45_000)
        let later = clock.read(monotonicMilliseconds: 50 + 60_000, wallMilliseconds: start - 5_000 + 60_000)
        #expect(later.nowMilliseconds == start + 55_000)
        #expect(clock.steps == 1)
    }

    @Test mutating func aWallClockThatComesBackIsNotFollowedAwayAnyMore() {
        let hour: Int64 = 3_600_000
        _ = clock.read(monotonicMilliseconds: 50, wallMilliseconds: start - hour)
        _ = clock.read(monotonicMilliseconds: 10_050, wallMilliseconds: start - hour + 10_000)
        let back = clock.read(monotonicMilliseconds: 11_050, wallMilliseconds: start + 11_000)
        #expect(back.nowMilliseconds == start + 9_900)
        let later = clock.read(monotonicMilliseconds: 71_050, wallMilliseconds: start + 71_000)
        #expect(later.nowMilliseconds == start + 69_900)
        #expect(clock.steps == 1)
    }

    @Test mutating func aMonotonicClockThatGoesBackStandsStill() {
        _ = clock.read(monotonicMilliseconds: 10_050, wallMilliseconds: start + 10_000)
        let instant = clock.read(monotonicMilliseconds: 9_050, wallMilliseconds: start + 10_000)
        #expect(instant.nowMilliseconds == start + 10_000)
    }
}
