import Testing

@testable import Streams

@Suite("When a replayed record leaves")
struct ReplayScheduleTests {
    /// Due times of records at these times of the recording, in milliseconds.
    private func dues(_ times: [Int64?], speed: Double?, rate: Double? = nil, elapsed: Double = 0) -> [Double] {
        var schedule = ReplaySchedule(speed: speed, recordsPerSecond: rate)
        return times.map {
            schedule.take(recordTime: $0, elapsedMilliseconds: elapsed)
            return schedule.dueMilliseconds
        }
    }

    @Test("As much later as recorded, divided by the speed")
    func interArrival() {
        let times: [Int64?] = [5_000, 6_000, 6_000, 9_500]
        #expect(dues(times, speed: 1) == [0, 1_000, 1_000, 4_500])
        #expect(dues(times, speed: 20) == [0, 50, 50, 225])
        #expect(dues(times, speed: nil) == [0, 0, 0, 0])
    }

    @Test("A record without a time leaves with the one before it, and the first may have none")
    func unknownTimes() {
        #expect(dues([nil, nil, 5_000, 7_000], speed: 1) == [0, 0, 0, 2_000])
    }

    @Test("A rate keeps a distance between records, and what it delays stays behind the recording")
    func rate() {
        #expect(dues([0, 0, 0, 1_000], speed: nil, rate: 100) == [0, 10, 20, 30])
        #expect(dues([0, 0, 0, 1_000, 1_001], speed: 1, rate: 100) == [0, 10, 20, 1_000, 1_010])
    }

    @Test("At 1x and 20x an event's time is when it is due, however late it leaves")
    func timesFollowThePlan() {
        var schedule = ReplaySchedule(speed: 20, recordsPerSecond: nil)
        schedule.take(recordTime: 0, elapsedMilliseconds: 0)
        schedule.take(recordTime: 1_000, elapsedMilliseconds: 9_999)
        #expect(schedule.timeMilliseconds == 50)
    }

    @Test("At max an event's time is now, but two seconds of the recording are never less than two milliseconds")
    func timesAtMax() {
        var schedule = ReplaySchedule(speed: nil, recordsPerSecond: nil)
        var times: [Double] = []
        for (record, elapsed) in [(0, 0.0), (1_000, 0.1), (2_000, 0.2), (2_000, 50), (2_500, 50)] {
            schedule.take(recordTime: Int64(record), elapsedMilliseconds: elapsed)
            times.append(schedule.timeMilliseconds)
        }
        #expect(times == [0, 1, 2, 50, 50.5])
    }

    @Test("Another pass begins where the last one ended, a millisecond later")
    func passes() {
        var schedule = ReplaySchedule(speed: 1, recordsPerSecond: nil)
        for time in [5_000, 7_000] as [Int64] { schedule.take(recordTime: time, elapsedMilliseconds: 0) }
        schedule.beginPass()
        var dues: [Double] = []
        for time in [5_000, 7_000] as [Int64] {
            schedule.take(recordTime: time, elapsedMilliseconds: 0)
            dues.append(schedule.dueMilliseconds)
        }
        #expect(dues == [2_001, 4_001])
    }
}
