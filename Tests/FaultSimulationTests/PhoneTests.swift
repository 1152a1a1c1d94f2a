import Telemetry
import Testing

@testable import FaultSimulation

private func payload(_ event: String, timestamp: Int64, sequence: Int64, status: String = "driving") -> Payload {
    var buffer = ByteBuffer()
    buffer.append(
        raw:
            "{\"aps\":{\"timestamp\":\(timestamp),\"event\":\"\(event)\",\"content-state\":{\"status\":\"\(status)\",\"sequenceNumber\":\(sequence)}}}"
    )
    return Payload(buffer)!
}

@Suite("What a phone makes of pushes")
struct PhoneTests {
    var card = Card(life: 1, token: nil, shown: ContentState())

    @Test("the newest timestamp wins, whatever arrives last")
    mutating func newestWins() throws {
        #expect(try card.receive(payload("update", timestamp: 20, sequence: 2, status: "near")).get() == .applied)
        #expect(try card.receive(payload("update", timestamp: 10, sequence: 1)).get() == .outdated)
        #expect(card.shown[FieldPath("status")] == .string("near"))
    }

    @Test("ended is ended")
    mutating func ended() throws {
        #expect(try card.receive(payload("end", timestamp: 20, sequence: 2)).get() == .ended)
        #expect(try card.receive(payload("update", timestamp: 30, sequence: 3)).get() == .afterEnd)
        #expect(card.isEnded)
    }

    @Test("the same timestamp twice breaks a promise")
    mutating func equalTimestamps() throws {
        _ = card.receive(payload("update", timestamp: 20, sequence: 2))
        #expect(throws: Broken.self) { try card.receive(payload("update", timestamp: 20, sequence: 3)).get() }
    }

    @Test("a retry may come twice; the same number with another content-state breaks a promise")
    mutating func sequences() throws {
        _ = card.receive(payload("update", timestamp: 20, sequence: 2))
        #expect(try card.receive(payload("update", timestamp: 21, sequence: 2)).get() == .applied)
        #expect(throws: Broken.self) {
            try card.receive(payload("update", timestamp: 22, sequence: 2, status: "near")).get()
        }
        #expect(throws: Broken.self) { try card.receive(payload("update", timestamp: 23, sequence: 1)).get() }
    }

    @Test("a body without timestamp, event or content-state is nothing to a phone")
    func unreadable() {
        for text in ["", "{}", "{\"aps\":{\"event\":\"update\",\"content-state\":{\"sequenceNumber\":1}}}"] {
            var buffer = ByteBuffer()
            buffer.append(raw: text)
            #expect(Payload(buffer) == nil)
        }
    }
}
