import Testing

@testable import Pipeline

@Suite("The clock of a run")
struct RunClockTests {
    private let wall: Int64 = 1_800_000_000_000

    @Test(
        "Waiting as long as it says reaches a time, and a microsecond less does not", arguments: [0.37, 1, 60, 9_999])
    func waitsExactly(factor: Double) {
        var now: Int64 = 123_456_789
        var clock = RunClock(
            .times(factor), shared: RecordingTime(), monotonicNanoseconds: now, wallMilliseconds: wall)
        clock.begin(at: 1_000)
        for due in [Int64(1_001), 1_002, 1_777, 60_000, 3_600_000] {
            let left = clock.nanoseconds(untilPacing: due)
            #expect(left > 0)
            if left > 1_000 {
                clock.read(monotonicNanoseconds: now + left - 1_000, wallMilliseconds: wall)
                #expect(clock.moment.pacing.nowMilliseconds < due)
            }
            now += left
            clock.read(monotonicNanoseconds: now, wallMilliseconds: wall)
            // Rounding may leave it short by a nanosecond, never by more.
            let rest = clock.nanoseconds(untilPacing: due)
            #expect(rest <= 1)
            now += rest
            clock.read(monotonicNanoseconds: now, wallMilliseconds: wall)
            #expect(clock.moment.pacing.nowMilliseconds >= due)
            #expect(clock.nanoseconds(untilPacing: due) == 0)
        }
    }

    @Test("Live, a millisecond is over when the monotonic clock's is")
    func live() {
        var clock = RunClock(
            .live, shared: RecordingTime(), monotonicNanoseconds: 5_000_900_000, wallMilliseconds: wall)
        #expect(clock.moment.pacing.nowMilliseconds == wall)
        #expect(clock.nanoseconds(untilPacing: wall + 1) == 100_000)
        #expect(clock.nanoseconds(untilReal: 5_002) == 1_100_000)
        clock.read(monotonicNanoseconds: 5_001_000_000, wallMilliseconds: wall + 1)
        #expect(clock.moment.pacing.nowMilliseconds == wall + 1)
        #expect(clock.nanoseconds(untilPacing: wall) == 0)
        #expect(clock.nanoseconds(untilReal: 4_000) == 0)
    }

    @Test("A time that never comes is waited for long, and overflows nothing")
    func never() {
        var clock = RunClock(.times(0.001), shared: RecordingTime(), monotonicNanoseconds: 1, wallMilliseconds: wall)
        clock.begin(at: 0)
        #expect(clock.nanoseconds(untilPacing: .max) > 1 << 50)
        #expect(clock.nanoseconds(untilReal: .max) > 1 << 50)
    }
}
