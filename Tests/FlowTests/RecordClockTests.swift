import Testing

@testable import Flow

private let hour: Int64 = 3_600_000

private func times(_ records: [RecordClock.RecordTime]) -> [Int64?] {
    var clock = RecordClock()
    return records.indices.map { index in
        clock.advance(to: records[index]) { records[(index + 1)...].lazy.compactMap(\.milliseconds).first }
        return clock.nowMilliseconds
    }
}

@Suite struct RecordClockTests {
    @Test func standsAtTheLargestTimeSeen() {
        #expect(
            times([.stamped(milliseconds: 5), .stamped(milliseconds: 3), .received(milliseconds: 9)]) == [5, 5, 9])
    }

    @Test func aDeadLetterWithoutReceivedAtMovesNothing() {
        #expect(times([.unknown, .stamped(milliseconds: 7), .unknown]) == [nil, 7, 7])
    }

    @Test func oneTimestampFromTheFutureIsNotBelieved() {
        let future = 100 * hour
        #expect(
            times([.stamped(milliseconds: 0), .stamped(milliseconds: future), .stamped(milliseconds: 1_000)])
                == [0, 0, 1_000])
    }

    @Test func aGapThatTheNextRecordConfirmsIsTaken() {
        let later = 100 * hour
        #expect(
            times([
                .stamped(milliseconds: 0), .stamped(milliseconds: later), .unknown,
                .stamped(milliseconds: later - 24 * hour),
            ])
                == [0, later, later, later])
        #expect(
            times([
                .stamped(milliseconds: 0), .stamped(milliseconds: later), .stamped(milliseconds: later - 24 * hour - 1),
            ])
                == [0, 0, later - 24 * hour - 1])
    }

    @Test func theLastRecordNeedsNoConfirmation() {
        #expect(
            times([.stamped(milliseconds: 0), .stamped(milliseconds: 100 * hour), .unknown]) == [
                0, 100 * hour, 100 * hour,
            ])
    }

    @Test func exactlyADayAheadIsTakenAtOnce() {
        #expect(
            times([.stamped(milliseconds: 0), .stamped(milliseconds: 24 * hour), .stamped(milliseconds: 1)])
                == [0, 24 * hour, 24 * hour])
    }

    @Test func theFirstRecordSetsTheClockWhateverFollows() {
        #expect(times([.stamped(milliseconds: 100 * hour), .stamped(milliseconds: 0)]) == [100 * hour, 100 * hour])
    }
}
