import RedisFixture
import Testing

@testable import Streams

@Suite("Feedback in streams", .serialized)
struct RedisFeedbackWriterTests {
    private final class Desk {
        let bench: StreamBench
        let writer: RedisFeedbackWriter

        init(maxLength: Int64 = 1_000) throws {
            bench = try StreamBench()
            writer = RedisFeedbackWriter(client: bench.client, topic: "fb", partitions: 4, maxLength: maxLength)
        }

        func write(_ lines: ArraySlice<FeedbackLine>) -> SourceFault? {
            var fault: SourceFault??
            writer.write(lines) { fault = $0 }
            bench.drive(until: { fault != nil })
            return fault ?? nil
        }
    }

    @Test("goes to the stream of its activity's partition, in order, with the activity's id as key")
    func placed() throws {
        let desk = try Desk()
        #expect(desk.write(feedbackLines("one", "two") + feedbackLines("three", key: "order-2", partition: 3)) == nil)
        #expect(
            try desk.bench.entries("fb:{1}") == [
                ["key", "order-1", "event", "one"], ["key", "order-1", "event", "two"],
            ]
        )
        #expect(try desk.bench.entries("fb:{3}") == [["key", "order-2", "event", "three"]])
    }

    @Test("keeps about as many as it is told to")
    func trimmed() throws {
        let desk = try Desk(maxLength: 100)
        let one = feedbackLines("one")
        #expect(desk.write(ArraySlice(repeatElement(one[0], count: 1_000))) == nil)
        #expect(try desk.bench.entries("fb:{1}").count < 400)
    }

    @Test("says what to do about another key in the way, and is written once that is gone")
    func wrongType() throws {
        let desk = try Desk()
        try desk.bench.server.call("SET", "fb:{1}", "x")
        let fault = try #require(desk.write(feedbackLines("one")))
        #expect(fault.source == "fb:{1}" && fault.remedy.contains("feedback.topic"))
        try desk.bench.server.call("DEL", "fb:{1}")
        #expect(desk.write(feedbackLines("one")) == nil)
        #expect(try desk.bench.entries("fb:{1}").count == 1)
    }

    @Test("fails while Redis is away, and is written when it is back")
    func away() throws {
        let desk = try Desk()
        #expect(desk.write(feedbackLines("one")) == nil)
        desk.bench.server.kill()
        #expect(desk.write(feedbackLines("two")) != nil)
        try desk.bench.server.start()
        while desk.write(feedbackLines("two")) != nil {}
        #expect(try desk.bench.entries("fb:{1}").map { $0[3] } == ["two"])
    }
}
