import Telemetry
import Testing

@testable import Streams

private func replayer(
    _ lines: [String], partitions: Int32 = 4, begin: Int64 = 2_000_000_000_000,
    _ change: (inout ReplayOptions) -> Void = { _ in }
) throws -> Replayer {
    var options = ReplayOptions(partitions: partitions)
    change(&options)
    let bytes = Array(lines.joined(separator: "\n").utf8)
    return try Replayer(options: options, beginMilliseconds: begin) {
        MergedRecordings([Recording(name: "test", bytes: bytes, apps: [])])
    }
}

private struct Published: Equatable {
    var key: String
    var value: String
    var due: Double
    var partition: Int32
}

private func all(_ replayer: Replayer, elapsed: Double = 0) throws -> [Published] {
    var found: [Published] = []
    while case .record = try replayer.advance(elapsedMilliseconds: elapsed) {
        found.append(
            replayer.withCurrent {
                Published(
                    key: String(decoding: $0.key, as: UTF8.self), value: String(decoding: $0.value, as: UTF8.self),
                    due: $0.dueMilliseconds, partition: $0.partition)
            })
    }
    return found
}

private func status(_ activity: String, _ time: String, more: String = "") -> String {
    #"{"type":"status","activityId":"\#(activity)","timestamp":\#(time),"status":"on"\#(more)}"#
}

@Suite("Replaying recordings")
struct ReplayerTests {
    @Test("An event's time moves with its record, and every other byte stays")
    func times() throws {
        let odd =
            #" { "status" : "a\u0062","timestamp" : 101.25 ,"activityId":"a","x":{"timestamp":7},"type":"status"} "#
        let text = #"{"type":"status","activityId":"a","timestamp":"1970-01-01T00:01:42+00:00","status":"timestamp"}"#
        let escaped = #"{"type":"status","activityId":"a","\u0074imestamp":103,"status":"on"}"#
        let found = try all(try replayer([status("a", "100"), odd, text, escaped]))
        #expect(
            found.map(\.value) == [
                status("a", "2000000000"),
                #" { "status" : "a\u0062","timestamp" : 2000000001.25 ,"activityId":"a","x":{"timestamp":7},"type":"status"} "#,
                #"{"type":"status","activityId":"a","timestamp":"2033-05-18T03:33:22.000Z","status":"timestamp"}"#,
                #"{"type":"status","activityId":"a","\u0074imestamp":2000000003,"status":"on"}"#,
            ])
        #expect(found.map(\.due) == [0, 1_250, 2_000, 3_000])
    }

    @Test("At 20x a second is 50 ms, for the record and for its time")
    func twentyTimes() throws {
        let found = try all(
            try replayer([status("a", "100"), status("a", "101"), status("a", "102.5")]) { $0.speed = 20 })
        #expect(found.map(\.due) == [0, 50, 125])
        #expect(
            found.map(\.value) == [
                status("a", "2000000000"), status("a", "2000000000.05"), status("a", "2000000000.125"),
            ])
    }

    @Test("What was late stays as late as it was: an event is moved by as much as its record, not by its own time")
    func lateness() throws {
        let lines = [
            #"{"receivedAt":100,"value":\#(status("a", "99.5"))}"#,
            #"{"receivedAt":101,"value":\#(status("b", "90"))}"#,
        ]
        let found = try all(try replayer(lines) { $0.speed = 10 })
        #expect(found.map(\.due) == [0, 100])
        #expect(found.map(\.value) == [status("a", "1999999999.5"), status("b", "1999999989.1")])
    }

    @Test("With its times kept, a recording is published as it is")
    func kept() throws {
        let lines = [status("a", "100"), "no JSON", status("a", #""1970-01-01T00:01:42Z""#)]
        #expect(try all(try replayer(lines) { $0.keepsTimes = true }).map(\.value) == lines)
    }

    @Test("What no event can be made of is published unchanged, with the record before it, and counted")
    func undecodable() throws {
        let replayer = try replayer([status("a", "100"), #"{"type":"nonsense","timestamp":5}"#, status("a", "101")])
        let found = try all(replayer)
        #expect(found[1] == Published(key: "", value: #"{"type":"nonsense","timestamp":5}"#, due: 0, partition: 0))
        #expect(replayer.records == 3)
        #expect(replayer.undecodable == 1)
    }

    @Test("A wrapper's key counts, with its escapes resolved, before the event's own")
    func wrapperKeys() throws {
        let lines = [
            #"{"key":"courier-7","partition":99,"value":\#(status("a", "1"))}"#,
            #"{"key":"\u0041\"b","value":\#(status("a", "1"))}"#,
            #"{"key":"","value":\#(status("a", "1"))}"#,
            #"{"key":"for the dead","value":{"type":"nonsense"}}"#,
        ]
        let found = try all(try replayer(lines))
        #expect(found.map(\.key) == ["courier-7", "A\"b", "", "for the dead"])
        let placement = KeyPlacement(partitions: 4)
        #expect(found.map(\.partition) == found.map { placement.partition(of: $0.key) })
    }

    @Test("An activity's events follow the subject from its start on, and never change their key")
    func subjectKeys() throws {
        func started(_ activity: String, _ follows: String) -> String {
            #"{"type":"activity.started","activityId":"\#(activity)","timestamp":1,"follows":"\#(follows)"}"#
        }
        let ofSubject = #"{"type":"position","subjectId":"bus","timestamp":2,"latitude":1,"longitude":2}"#
        let lines = [
            started("a", "bus"), started("b", "tram"), ofSubject, status("a", "3"), status("b", "3"), status("c", "3"),
            started("a", "tram"), status("a", "4"), #"{"type":"activity.ended","activityId":"a","timestamp":5}"#,
            status("a", "6"),
        ]
        #expect(
            try all(try replayer(lines)).map(\.key) == [
                "bus", "tram", "bus", "bus", "tram", "c", "bus", "bus", "bus", "bus",
            ])
    }

    @Test("A timestamp that is years ahead carries neither the plan nor the others' times off")
    func absurdTime() throws {
        let found = try all(try replayer([status("a", "100"), status("b", "4000000000"), status("a", "101")]))
        #expect(found.map(\.due) == [0, 0, 1_000])
        #expect(found[2].value == status("a", "2000000001"))
    }

    @Test("A second pass goes on in time, so that nothing in it is old")
    func loops() throws {
        let replayer = try replayer([status("a", "100"), status("a", "101")]) { $0.passes = 3 }
        let found = try all(replayer)
        #expect(found.map(\.due) == [0, 1_000, 1_001, 2_001, 2_002, 3_002])
        #expect(found[2].value == status("a", "2000000001.001"))
        #expect(found[5].value == status("a", "2000000003.002"))
        #expect(replayer.records == 6)
    }

    @Test("An empty recording ends, however often it is to be played")
    func emptyLoops() throws {
        #expect(try all(try replayer([]) { $0.passes = .max }).isEmpty)
    }

    @Test("At max two positions a second apart are still two, and none is an hour ahead")
    func maximum() throws {
        let lines = (0..<3_600).map { status("a", "\(1_000 + $0)") }
        let found = try all(try replayer(lines, begin: 0) { $0.speed = nil })
        #expect(found.allSatisfy { $0.due == 0 })
        #expect(found[1].value == status("a", "0.001"))
        #expect(found[3_599].value == status("a", "3.599"))
        #expect(Set(found.map(\.value)).count == 3_600)
    }

    @Test("An event moved decodes to the same event at the moved time, whatever its text looks like")
    func movedEventsDecode() throws {
        var decoder = EventDecoder(apps: [])
        let texts = [
            status("a", "1e3"), status("a", "-0.5"), status("a", "1773000600.12345"), status("a", "0"),
            status("a", #""2026-03-08T20:10:00.5-07:30""#), status("a", #""2016-12-31T23:59:60Z""#),
            #"{"x":"\"timestamp\":5","y":[{"timestamp":1}],"type":"status","timestamp":7,"activityId":"a","status":"on"}"#,
        ]
        for text in texts {
            for delta in [0, 1, -1, 999, 86_400_000 * 365, -1_500] as [Int64] {
                let bytes = Array(text.utf8)
                let before = try bytes.withUnsafeBytes { try decoder.decode($0).timestampMilliseconds }
                var buffer = ByteBuffer()
                bytes.withUnsafeBytes { buffer.append(event: $0, stamped: before, movedBy: delta) }
                let after = try buffer.withUnsafeBytes { try decoder.decode($0).timestampMilliseconds }
                #expect(after == before + delta, "\(text) by \(delta): \(buffer.text)")
                let place = try #require(bytes.withUnsafeBytes { Event.timestampPlace(in: $0) })
                #expect(buffer.bytes.starts(with: bytes[..<place.lowerBound]))
                #expect(buffer.bytes.reversed().starts(with: bytes[place.upperBound...].reversed()))
            }
        }
    }

    @Test("A time that RFC 3339 has no year for stays what it was")
    func beyondTheCalendar() throws {
        let text = status("a", #""9999-12-31T23:59:59Z""#)
        var buffer = ByteBuffer()
        Array(text.utf8).withUnsafeBytes { buffer.append(event: $0, stamped: 253_402_300_799_000, movedBy: 1_000) }
        #expect(buffer.text == text)
    }
}
