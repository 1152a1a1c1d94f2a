import Telemetry
import Testing

@testable import PushSimulator

@Suite("The journal reads back what was written")
struct JournalTests {
    static func entry(_ number: Int) -> JournalEntry {
        let request = FaceBench.request(
            body:
                #"{"aps":{"timestamp":1795953600,"event":"update","stale-date":1795953780,"alert":"x","content-state":{"status":"Zürich ✓","sequenceNumber":\#(number + 1)}}}"#
        )
        var entry = JournalEntry(
            request, number: number, connection: 3, stream: 7, sequenceField: FieldPath("sequenceNumber"),
            at: FaceInstant(realMilliseconds: 1_000, phoneMilliseconds: 2_000))
        entry.activityIdentifier = "A"
        entry.status = 200
        entry.verdict = .alerted
        return entry
    }

    @Test("An entry says what the request said, and names its token by fingerprint alone")
    func entry() {
        let entry = Self.entry(0)
        #expect(entry.sequence == 1)
        #expect(entry.timestampSeconds == 1_795_953_600)
        #expect(entry.staleDateSeconds == 1_795_953_780)
        #expect(entry.priority == 5)
        #expect(entry.hasAlert)
        #expect(entry.bodyBytes > 90)
        #expect(entry.tokenFingerprint == Fingerprint.of(token: FaceBench.token.uppercased()))
        #expect(entry.path == "/3/device/\(entry.tokenFingerprint)")
        let line = String(decoding: JSONDocument.bytes(of: .object(entry.json)), as: UTF8.self)
        #expect(!line.contains(FaceBench.token))
    }

    @Test("Entries and amendments come back from their lines, folded together")
    func roundTrip() throws {
        var journal = Journal()
        var refused = Self.entry(1)
        refused.status = 503
        refused.reason = "ServiceUnavailable"
        refused.isInjected = true
        refused.verdict = nil
        refused.warnings = ["apns-expiration looks like milliseconds"]
        journal.append(Self.entry(0))
        journal.append(refused)
        journal.amend(0, .verdict(.overwritten))
        journal.amend(1, .fate(.lost))
        let lines = journal.takeLines()
        #expect(lines.count { $0 == UInt8(ascii: "\n") } == 4)
        #expect(journal.takeLines().isEmpty)
        let read = try Journal(parsing: lines)
        #expect(read.entries == journal.entries)
        #expect(read.entries[0].verdict == .overwritten)
        #expect(read.entries[1].fate == .lost)
        #expect(try Journal(parsing: journal.lines()).entries == journal.entries)
    }

    @Test("A broken line is named")
    func broken() {
        let good = String(decoding: JSONDocument.bytes(of: .object(Self.entry(0).json)), as: UTF8.self)
        for (text, line) in [
            ("{", 1), (good + "\n[]", 2), (good + "\n" + good, 2), (good + #"\#n{"amends":5,"verdict":"applied"}"#, 2),
            (good + #"\#n{"amends":0}"#, 2),
        ] {
            let fault = #expect(throws: JournalFault.self) { try Journal(parsing: Array(text.utf8)) }
            #expect(fault?.line == line)
        }
    }

    @Test(
        "At its limit the oldest tenth is let go: numbers go on, tallies count all, and a file that begins later reads back"
    )
    func limit() throws {
        var journal = Journal(maxEntries: 20)
        for number in 0..<25 { journal.append(Self.entry(number)) }
        #expect(journal.firstNumber == 6 && journal.nextNumber == 25)
        #expect(journal.entries.map(\.number) == Array(6..<25))
        journal.amend(3, .verdict(.overwritten))
        journal.amend(24, .verdict(.overwritten))
        #expect(journal.tallies.verdicts == ["alerted": 24, "overwritten": 1])
        #expect(journal.tallies.answers == ["200": 25])
        #expect(journal.lines(from: 20).split(separator: UInt8(ascii: "\n")).count == 5)
        let read = try Journal(parsing: journal.lines())
        #expect(read.entries == journal.entries)
        #expect(read.firstNumber == 6)
        let early = Array(#"{"amends":2,"fate":"lost"}"#.utf8) + [UInt8(ascii: "\n")]
        #expect(try Journal(parsing: early + journal.lines() + early).entries == journal.entries)
    }
}
