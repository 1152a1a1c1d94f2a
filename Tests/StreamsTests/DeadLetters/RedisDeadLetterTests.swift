import RedisClient
import RedisFixture
import Testing

@testable import Streams

/// A stream of records, and the dead letters beside it.
private final class Desk {
    let bench: StreamBench
    let writer: RedisDeadLetterWriter
    let letters: RedisDeadLetters

    init(_ options: [String] = [], _ change: (inout RedisDeadLetterWriter.Settings) -> Void = { _ in }) throws {
        bench = try StreamBench(options)
        var settings = RedisDeadLetterWriter.Settings(group: "g")
        change(&settings)
        writer = RedisDeadLetterWriter(client: bench.client, settings: settings)
        letters = RedisDeadLetters(client: bench.client, topic: "rides", topicPrefix: "dlq.")
    }

    func publish(_ id: String, _ fields: String...) throws {
        _ = try RedisAnswer.ask(bench.server.port, ["XADD", "rides:{1}", id] + fields)
    }

    func letter(_ id: String, value: String = "no JSON") -> DeadLetter {
        var letter = DeadLetter(
            reason: "not_json", detail: "it is none", stage: .decode, source: "rides:{1}", value: Array(value.utf8))
        letter.topic = "rides"
        letter.partition = 1
        letter.entry = RedisStreamID(id)
        letter.offset = letter.entry?.offset ?? -1
        (letter.group, letter.instance, letter.version) = ("g", "host-1", "0.1.0")
        letter.firstFailedAtMilliseconds = 1_773_000_600_123
        return letter
    }

    func write(_ letters: DeadLetter...) -> Result<RedisDeadLetterWriter.Receipt, SourceFault>? {
        answer {
            writer.write(letters, to: writer.stream(of: letters[0]), nowMilliseconds: 1_773_000_600_000, done: $0)
        }
    }

    func all() throws -> [RedisDeadLetters.Stored] {
        try answer { letters.page(1, after: nil, through: RedisStreamID("99999999999999-0")!, count: 100, done: $0) }?
            .get().letters ?? []
    }

    func answer<Value>(_ ask: (@escaping (Value) -> Void) -> Void) -> Value? {
        var answer: Value?
        ask { answer = $0 }
        bench.drive(until: { answer != nil })
        return answer
    }
}

@Suite("Dead letters in streams")
struct RedisDeadLetterTests {
    @Test("A letter has the entry's id and all its fields, untouched, and says beside them why and whence")
    func written() throws {
        let desk = try Desk()
        try desk.publish("5-1", "key", "order-1", "traceparent", "00-ab-cd-01", "event", "no\u{0} JSON")
        #expect(try desk.write(desk.letter("5-1"))?.get() == .init(added: 1, known: 0, trimmed: 0))
        let fields = try #require(try desk.bench.entries("dlq.rides:{1}").first)
        #expect(fields.prefix(6) == ["key", "order-1", "traceparent", "00-ab-cd-01", "event", "no\u{0} JSON"])
        #expect(fields.contains("waypulse.dlq.reason"))
        let stored = try #require(try desk.all().first)
        #expect(stored.identifier == RedisStreamID("5-1"))
        var wanted = desk.letter("5-1", value: "no\u{0} JSON")
        wanted.key = Array("order-1".utf8)
        wanted.headers = [DeadLetter.Header(name: "traceparent", value: Array("00-ab-cd-01".utf8))]
        #expect(stored.letter == wanted)
    }

    @Test("Written again it is there once")
    func repeated() throws {
        let desk = try Desk()
        for id in ["5-1", "5-2", "6-0"] { try desk.publish(id, "event", id) }
        _ = desk.write(desk.letter("5-1"), desk.letter("5-2"))
        #expect(
            try desk.write(desk.letter("5-1"), desk.letter("5-2"), desk.letter("6-0"))?.get()
                == .init(added: 1, known: 2, trimmed: 0))
        #expect(try desk.all().map(\.identifier.description) == ["5-1", "5-2", "6-0"])
    }

    @Test("An entry that was trimmed leaves the event alone; one without the event keeps its other fields")
    func trimmedEntry() throws {
        let desk = try Desk()
        try desk.publish("7-0", "body", "{}")
        #expect(try desk.write(desk.letter("5-1", value: "kept"), desk.letter("7-0", value: ""))?.get().added == 2)
        let all = try desk.all()
        #expect(all.map { String(decoding: $0.letter.value, as: UTF8.self) } == ["kept", ""])
        #expect(all.last?.letter.headers == [DeadLetter.Header(name: "body", value: Array("{}".utf8))])
    }

    @Test("A stream that lost its end gets an id of its own for what is older than its newest letter")
    func rewound() throws {
        let desk = try Desk()
        try desk.publish("5-1", "event", "a")
        _ = desk.write(desk.letter("9-3"))
        #expect(try desk.write(desk.letter("5-1"))?.get().added == 1)
        let all = try desk.all()
        #expect(all.map(\.identifier.description) == ["9-3", "9-4"])
        #expect(all.last?.letter.entry == RedisStreamID("5-1"))
    }

    @Test("Updates go to a stream of their own, under ids of now")
    func updates() throws {
        let desk = try Desk()
        var letter = DeadLetter(
            reason: "BadDeviceToken", detail: "refused", stage: .push, source: "g", value: Array(#"{"a":1}"#.utf8))
        (letter.partition, letter.activityIdentifier, letter.sequence) = (2, "order-1", 7)
        letter.firstFailedAtMilliseconds = 5
        _ = desk.write(letter, letter)
        let updates = RedisDeadLetters(
            client: desk.bench.client, topic: RedisDeadLetterWriter.updates(of: "g"), topicPrefix: "dlq.")
        #expect(updates.stream(2) == "dlq.g.updates:{2}")
        let page = desk.answer {
            updates.page(2, after: nil, through: RedisStreamID("99999999999999-0")!, count: 100, done: $0)
        }
        #expect(try page?.get().letters.map(\.letter) == [letter, letter])
    }

    @Test("Older letters go for newer ones, counted")
    func bounded() throws {
        let desk = try Desk(["--stream-node-max-entries", "10"]) { $0.maxLength = 20 }
        var trimmed = 0
        for number in 1...100 { trimmed += try desk.write(desk.letter("\(number)-0"))?.get().trimmed ?? 0 }
        let length = Int(try desk.bench.server.call("XLEN", "dlq.rides:{1}").integer ?? 0)
        #expect(20..<40 ~= length)
        #expect(trimmed == 100 - length)
        let aged = try Desk(["--stream-node-max-entries", "1"]) { $0.maxAgeMilliseconds = 60_000 }
        _ = aged.write(aged.letter("1773000500000-0"), aged.letter("1773000590000-0"))
        #expect(try aged.all().map(\.identifier.description) == ["1773000590000-0"])
    }

    @Test("What cannot be written says why and what to do", arguments: ["WRONGTYPE", "OOM", "NOPERM"])
    func refused(_ code: String) throws {
        let desk = try Desk()
        let server = desk.bench.server
        _ = desk.write(desk.letter("5-1"))
        switch code {
        case "WRONGTYPE":
            try server.call("DEL", "dlq.rides:{1}")
            try server.call("SET", "dlq.rides:{1}", "x")
        case "OOM": try server.call("CONFIG", "SET", "maxmemory", "1")
        default: try server.call("ACL", "SETUSER", "default", "resetkeys", "~rides:*")
        }
        guard case .failure(let fault) = desk.write(desk.letter("6-1")) else {
            Issue.record("it was written")
            return
        }
        #expect(fault.source == "dlq.rides:{1}")
        let remedies = [
            "WRONGTYPE": "no stream", "OOM": "raise maxmemory",
            "NOPERM": "ACL SETUSER <user> ~<deadLetters.topicPrefix>*",
        ]
        #expect(fault.remedy.contains(try #require(remedies[code])), "\(fault)")
    }

    @Test("What is published again goes to its stream with all its fields and leaves the dead letters, once")
    func redriven() throws {
        let desk = try Desk()
        try desk.publish("5-1", "key", "order-1", "event", "mended", "x", "y")
        _ = desk.write(desk.letter("5-1"))
        let all = try desk.all()
        let first = desk.answer { desk.letters.redrive(all, of: 1, done: $0) }
        #expect(try first?.get() == .init(published: 1, gone: 0))
        let second = desk.answer { desk.letters.redrive(all, of: 1, done: $0) }
        #expect(try second?.get() == .init(published: 0, gone: 1))
        #expect(try desk.all().isEmpty)
        #expect(
            try desk.bench.entries("rides:{1}").last == [
                "key", "order-1", "event", "mended", "x", "y", "waypulse.dlq.first-failed-at", "1773000600123",
                "waypulse.dlq.attempts", "1",
            ])
    }

    @Test("One that fails again counts one attempt more, and knows when it failed first")
    func attempts() throws {
        let desk = try Desk()
        try desk.publish("5-1", "event", "bad")
        _ = desk.write(desk.letter("5-1"))
        let all = try desk.all()
        _ = desk.answer { desk.letters.redrive(all, of: 1, done: $0) }
        let entries = try desk.bench.server.call("XREVRANGE", "rides:{1}", "+", "-", "COUNT", "1").elements
        var again = desk.letter(try #require(entries.first?.elements.first?.text))
        again.firstFailedAtMilliseconds += 60_000
        _ = desk.write(again)
        let letter = try #require(try desk.all().first?.letter)
        #expect((letter.attempts, letter.firstFailedAtMilliseconds) == (2, 1_773_000_600_123))
        #expect(letter.headers.isEmpty)
    }

    @Test("Pages come in order up to where it was looked at first, and strangers are counted")
    func pages() throws {
        let desk = try Desk()
        for number in 1...5 { _ = desk.write(desk.letter("\(number)-0")) }
        try desk.bench.server.call("XADD", "dlq.rides:{1}", "5-1", "a", "b")
        let newest = try desk.answer { desk.letters.newest(1, done: $0) }?.get()
        #expect(newest == RedisStreamID("5-1"))
        _ = desk.write(desk.letter("9-0"))
        var (last, seen, strangers): (RedisStreamID?, [UInt64], Int) = (nil, [], 0)
        repeat {
            let page = try #require(
                try desk.answer { desk.letters.page(1, after: last, through: newest!, count: 2, done: $0) }?.get())
            seen += page.letters.map(\.identifier.milliseconds)
            strangers += page.strangers
            last = page.last
        } while last != nil
        #expect((seen, strangers) == ([1, 2, 3, 4, 5], 1))
        #expect(try desk.answer { desk.letters.newest(0, done: $0) }?.get() == .some(nil))
    }
}

@Suite("Whether dead letters could be written")
struct RedisDeadLetterCheckTests {
    private func check(_ desk: Desk) -> RedisDeadLetterWriter.Check? {
        desk.answer { desk.writer.check(["rides"], partitions: 4, done: $0) }
    }

    private func fault(_ desk: Desk) -> SourceFault? {
        if case .refused(let fault)? = check(desk) { fault } else { nil }
    }

    @Test("is found out without a trace")
    func passed() throws {
        let desk = try Desk()
        #expect(check(desk) == .passed)
        #expect(try desk.bench.server.call("DBSIZE").integer == 0)
        _ = desk.write(desk.letter("5-1"))
        #expect(check(desk) == .passed)
        #expect(try desk.all().count == 1)
    }

    @Test("names the key that is no stream, and the right that is missing")
    func refused() throws {
        let desk = try Desk()
        try desk.bench.server.call("SET", "dlq.rides:{2}", "x")
        #expect(fault(desk)?.source == "dlq.rides:{2}")
        try desk.bench.server.call("DEL", "dlq.rides:{2}")
        try desk.bench.server.call("ACL", "SETUSER", "default", "resetkeys", "~rides:*")
        #expect(fault(desk)?.remedy.contains("ACL SETUSER") == true)
    }
}
