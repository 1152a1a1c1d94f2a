import LiveActivities
import Pacing
import Testing

@testable import Flow

@Suite("A member whose log is not what it was")
struct MemberRewindTests {
    /// A member of a group of its own, whose saves are answered only when a test says so.
    private final class Seat {
        let member: Member
        private(set) var saves: [(identifier: UInt64, batch: CheckpointBatch)] = []
        var answersSaves = true
        private var now: Int64 = 1_800_000_000_000

        init() {
            var settings = LaneSettings(shard: ShardSettings(), types: ActivityTypes())
            settings.shard.keepsCheckpoints = true
            member = Member(settings: MemberSettings(name: "a", partitions: 1), lane: Lane(settings: settings))
            pass()
        }

        private var moment: Moment { Moment(pacing: Instant(milliseconds: now), realMilliseconds: now) }

        /// Long enough for positions to be saved.
        func pass() {
            now += 300
            member.advance(to: moment)
            while let (identifier, request) = member.nextRequest() {
                switch request {
                case .beat: member.answer(identifier, .alive(members: ["a"]), at: moment)
                case .claim:
                    let claim = Claim(epoch: 1, positions: [nil], absenceMilliseconds: nil)
                    member.answer(identifier, .claimed(claim), at: moment)
                case .renew: member.answer(identifier, .renewed, at: moment)
                case .load, .loadDue: member.answer(identifier, .loaded([]), at: moment)
                case .save(_, _, let batch):
                    saves.append((identifier, batch))
                    if answersSaves { answerSave() }
                case .leave, .release: Issue.record("nobody asked it to go")
                }
            }
        }

        func answerSave() {
            guard let save = saves.last else { return }
            member.answer(save.identifier, .saved, at: moment)
        }

        func begin(after position: SettledPosition) {
            member.begin(partition: 0, source: 0, after: position)
            member.noteEnd(partition: 0, source: 0, offset: -1, at: moment)
        }

        func read(_ offsets: ClosedRange<Int64>) {
            for offset in offsets { member.countDeadLetter(partition: 0, offset: offset, at: moment) }
        }
    }

    @Test("was cut back while a save was under way: the position that it brings is not taken for the newest")
    func rewoundDuringSave() {
        let seat = Seat()
        seat.begin(after: SettledPosition(offset: -1, records: 0))
        seat.read(1...9)
        seat.answersSaves = false
        seat.pass()
        #expect(seat.saves.last?.batch.positions == [SettledPosition(offset: 9, records: 9)])
        seat.member.rewind(partition: 0, source: 0, to: SettledPosition(offset: 4, records: 4))
        seat.answerSave()
        seat.pass()
        #expect(seat.saves.last?.batch.positions == [SettledPosition(offset: 4, records: 4)])
        seat.answerSave()
        seat.read(5...6)
        seat.pass()
        #expect(seat.saves.last?.batch.positions == [SettledPosition(offset: 6, records: 6)])
    }

    @Test("what had been trimmed before it was the first to read counts as settled")
    func begunLate() {
        let seat = Seat()
        seat.begin(after: SettledPosition(offset: -1, records: 5_000_000))
        seat.read(1...3)
        #expect(seat.member.unsettledRecords(partition: 0, source: 0) == 3)
        seat.pass()
        #expect(seat.member.unsettledRecords(partition: 0, source: 0) == 0)
    }
}
