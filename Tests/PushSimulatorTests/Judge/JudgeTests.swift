import Telemetry
import Testing

@testable import PushSimulator

@Suite("The judge refuses a doctored journal, for the very promise that was broken")
struct JudgeTests {
    typealias Promise = BrokenPromise.Promise

    /// - Parameter doctor: falsifies one thing.
    private func expect(
        _ promise: Promise?, sourceLocation: SourceLocation = #_sourceLocation, _ doctor: (inout GoodJournal) -> Void
    ) {
        var journal = GoodJournal()
        doctor(&journal)
        let broken = journal.broken
        let found = "\(broken.map(\.description))"
        #expect(
            Set(broken.map(\.promise)) == Set([promise].compactMap(\.self)), "\(found)", sourceLocation: sourceLocation)
    }

    @Test("A good journal breaks nothing")
    func good() {
        expect(nil) { _ in }
    }

    @Test("Sequence: it falls, it is missing, a retry has another id, a superseded update is tried again")
    func sequence() {
        expect(.sequenceRises) { $0["C", 3].sequence = 0 }
        expect(.sequenceRises) { $0["C", 3].sequence = nil }
        expect(.sequenceRises) { $0.entries[4].apnsIdentifier = "another" }
        expect(.sequenceRises) {
            $0.add("C", at: 600, #"{"sequenceNumber":8}"#)
        }
        // A number may be left out: what never left took one, too.
        expect(nil) { $0["C", 9].sequence = 12 }
    }

    @Test("Content: one sequence stands for two content-states")
    func content() {
        expect(.sequenceKeepsContent) {
            $0.entries[4].contentState = GoodJournal.object(
                #"{"status":"picked_up","etaTimestamp":1,"sequenceNumber":4}"#)
        }
    }

    @Test("Timestamp: equal, falling, missing; what was not processed does not count")
    func timestamp() {
        expect(.timestampRises) { $0["C", 4].timestampSeconds = $0["C", 3].timestampSeconds }
        expect(.timestampRises) { $0["C", 4].timestampSeconds = 1 }
        expect(.timestampRises) { $0["C", 4].timestampSeconds = nil }
        expect(.timestampRises) { $0.entries[4].timestampSeconds = $0.entries[3].timestampSeconds }
        expect(nil) {
            $0.entries[4].timestampSeconds = $0.entries[3].timestampSeconds
            $0.entries[3].fate = .unprocessed
        }
    }

    /// Its connection was given up, and the simulator looked at it after its own retry.
    @Test("Timestamp: an earlier attempt that its own retry has overtaken is older, and no other update may be")
    func overtaken() {
        func swap(_ journal: inout GoodJournal) {
            var late = journal.entries[4]
            late.number = journal.entries[4].number
            late.timestampSeconds = journal.entries[4].timestampSeconds.map { $0 - 1 }
            late.fate = .lost
            journal.entries.insert(late, at: 5)
        }
        expect(nil) { swap(&$0) }
        expect(.timestampRises) {
            swap(&$0)
            $0.entries[5].fate = .answered
        }
    }

    @Test("Routine window: nine updates of nine minutes within one")
    func routineWindow() {
        expect(.routineWindow) { journal in
            for index in journal.entries.indices where journal.entries[index].activityIdentifier == "C" {
                journal.entries[index].atMilliseconds = GoodJournal.noonSeconds * 1_000 + Int64(index) * 5_000
            }
        }
        // A retry takes nothing from the cadence.
        expect(nil) { journal in
            for _ in 0..<6 {
                var again = journal["C", 9]
                again.number = journal.entries.count
                again.timestampSeconds? += Int64(again.number)
                journal.entries.append(again)
            }
        }
        // With frequent updates eight may go at once.
        var frequent = FinalState()
        frequent.isFrequent = true
        expect(nil) { journal in
            journal.expectations.finalStates["C"] = frequent
            for index in journal.entries.indices where journal.entries[index].activityIdentifier == "C" {
                journal.entries[index].atMilliseconds = GoodJournal.noonSeconds * 1_000 + Int64(index) * 5_000
            }
        }
    }

    @Test("Total window: a dozen urgent updates within a second")
    func totalWindow() {
        expect(.totalWindow) { journal in
            for index in journal.entries.indices where journal.entries[index].activityIdentifier == "D" {
                journal.entries[index].atMilliseconds = GoodJournal.noonSeconds * 1_000 + Int64(index)
            }
        }
    }

    @Test("Final state: a field, a tolerance, a position, the end or its dismissal is wrong, or nothing was told")
    func finalState() {
        expect(.finalStateTold) {
            $0.expectations.finalStates["B"]?.contentState[FieldPath("status")] = .string("arriving")
        }
        expect(.finalStateTold) {
            $0.expectations.finalStates["B"]?.contentState[FieldPath("etaTimestamp")] = .number(
                JSONNumber(Int64(1_795_955_010)))
        }
        expect(nil) {
            $0.expectations.finalStates["B"]?.contentState[FieldPath("etaTimestamp")] = .number(
                JSONNumber(Int64(1_795_955_009)))
        }
        expect(.finalStateTold) { $0.expectations.finalStates["B"]?.position?.latitude = 48.203 }
        expect(.finalStateTold) { $0.expectations.finalStates["B"]?.rideAlongFields = [] }
        expect(.finalStateTold) { $0.expectations.finalStates["B"]?.ending = .plain }
        expect(.finalStateTold) { $0.expectations.finalStates["A"]?.ending = nil }
        expect(.finalStateTold) { $0.expectations.finalStates["A"]?.ending = .plain }
        expect(.finalStateTold) { $0.expectations.finalStates["A"]?.ending = .at(milliseconds: 1_795_960_000_000) }
        expect(.finalStateTold) { $0["A", 5].dismissalDateSeconds? += 1 }
        // An end tells everything exactly.
        expect(.finalStateTold) {
            $0.expectations.finalStates["A"]?.contentState[FieldPath("speedKmh")] = .number(JSONNumber(Int64(1)))
        }
        expect(.finalStateTold) { $0.expectations.finalStates["A"]?.position?.latitude += 0.0001 }
        expect(.finalStateTold) { $0.expectations.finalStates["E"] = $0.expectations.finalStates["B"] }
        expect(nil) {
            $0.expectations.finalStates["E"] = $0.expectations.finalStates["B"]
            $0.expectations.finalStates["E"]?.hasTarget = false
        }
    }

    @Test("Final state: an answer is no display; what the phone did not show was not told")
    func notShown() {
        expect(.finalStateTold) { $0["B", 2].verdict = .dropped(.offline) }
        expect(.finalStateTold) { $0["A", 5].verdict = .stored }
    }

    @Test("Final state: at eight hours an activity may be ended that nobody ended")
    func lifeLimit() {
        expect(nil) {
            $0.expectations.finalStates["A"]?.ending = nil
            $0.expectations.finalStates["A"]?.beganAtMilliseconds? -= 8 * 3_600_000 - 300_000
        }
    }

    @Test(
        "After an end: an update, another end; a retry is allowed where the answer was lost, and a new life has a new token"
    )
    func afterEnd() {
        expect(.nothingAfterEnd) {
            $0.add("A", at: 310, priority: 5, #"{"status":"delivered","sequenceNumber":6}"#)
            $0.entries[$0.entries.count - 1].verdict = nil
        }
        var retry = GoodJournal()["A", 5]
        retry.timestampSeconds? += 20
        expect(.nothingAfterEnd) {
            retry.number = $0.entries.count
            $0.entries.append(retry)
        }
        expect(nil) {
            $0["A", 5].fate = .lost
            retry.number = $0.entries.count
            $0.entries.append(retry)
        }
        expect(nil) {
            $0.add("A", at: 400, priority: 10, #"{"status":"accepted","sequenceNumber":6}"#)
            $0.entries[$0.entries.count - 1].tokenFingerprint = "a new one"
            $0.expectations.finalStates["A"]?.hasTarget = false
        }
    }

    @Test("Targets: an unknown token, and a dead one after its 410")
    func targets() {
        func refuse(_ entry: inout JournalEntry, _ status: Int, _ reason: String) {
            entry.status = status
            entry.reason = reason
            entry.verdict = nil
        }
        expect(.liveTargets) { refuse(&$0["C", 5], 400, "BadDeviceToken") }
        expect(.liveTargets) { refuse(&$0["C", 5], 400, "DeviceTokenNotForTopic") }
        expect(nil) {
            refuse(&$0["C", 5], 400, "BadDeviceToken")
            $0["C", 5].isInjected = true
        }
        expect(nil) { refuse(&$0["C", 9], 410, "Unregistered") }
        expect(.liveTargets) {
            refuse(&$0["C", 8], 410, "Unregistered")
            refuse(&$0["C", 9], 410, "Unregistered")
        }
        expect(.wellFormed) { refuse(&$0["C", 5], 400, "BadExpirationDate") }
        expect(.wellFormed) { refuse(&$0["C", 5], 413, "PayloadTooLarge") }
    }

    @Test("Priority: 10 without need, 5 for what is urgent, anything else")
    func priority() {
        expect(.priority) { $0["C", 5].priority = 10 }
        expect(.priority) { $0["A", 2].priority = 5 }
        expect(.priority) { $0["A", 5].priority = 5 }
        expect(.priority) { $0["C", 5].priority = 1 }
        expect(.priority) { $0["C", 5].priority = nil }
        // Twelve in a minute can have brought the bucket of four to −4.
        expect(nil) { $0["D", 12].priority = 5 }
        expect(.priority) { $0["D", 3].priority = 5 }
        // A lost answer leaves open what the phone knows.
        expect(nil) {
            $0["A", 2].fate = .lost
            $0["A", 3].hasAlert = false
        }
    }

    @Test("Shown: what the phone drops or throttles")
    func shown() {
        expect(.shown) { $0["C", 5].verdict = .dropped(.decode) }
        expect(.shown) { $0["C", 5].verdict = .throttled }
        expect(nil) { $0["C", 5].verdict = .dropped(.offline) }
    }

    @Test("An activity is known by its token where the journal does not name it")
    func byToken() {
        expect(nil) { journal in
            for index in journal.entries.indices where journal.entries[index].activityIdentifier == "B" {
                journal.entries[index].activityIdentifier = nil
            }
            journal.expectations.activityByToken["token of B"] = "B"
        }
    }

    @Test("A finding says what, where and against what")
    func description() {
        var journal = GoodJournal()
        journal["C", 4].timestampSeconds = 1
        #expect(
            journal.broken.map(\.description)
                == ["timestampRises: C, entry 11: timestamp 1 after 1795953720"])
    }

    @Test("The verdict on a journal is the same after it went through its file")
    func throughLines() throws {
        var journal = GoodJournal()
        journal["C", 4].timestampSeconds = 1
        var file = Journal()
        for entry in journal.entries { file.append(entry) }
        let read = try Journal(parsing: file.takeLines())
        let judge = Judge(settings: journal.settings, expectations: journal.expectations)
        #expect(judge.judge(read.entries) == journal.broken)
    }
}
