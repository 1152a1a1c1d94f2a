import CRdkafka
import KafkaClient
import Testing

@testable import Streams

@Suite("Feedback in a topic", .serialized)
struct KafkaFeedbackWriterTests {
    private final class Desk {
        let bench = TopicBench(topics: ["fb": 4])
        let writer: KafkaFeedbackWriter

        init() {
            var kafka = bench.settings
            kafka.properties["fetch.wait.max.ms"] = nil
            writer = KafkaFeedbackWriter(
                kafka: kafka, topic: "fb", loop: bench.loop, instruments: bench.instruments, log: bench.log)
        }

        func write(_ lines: ArraySlice<FeedbackLine>) -> SourceFault? {
            var fault: SourceFault??
            writer.write(lines) { fault = $0 }
            bench.drive(until: { fault != nil })
            return fault ?? nil
        }

        deinit {
            writer.close()
            bench.loop.runOnce(timeoutMilliseconds: 0)
        }
    }

    @Test("has the activity's id as key, which says where it lies, and is in order there")
    func placed() throws {
        let desk = Desk()
        #expect(desk.write(feedbackLines("one", "two") + feedbackLines("three", key: "order-2")) == nil)
        let found = try desk.bench.records(of: "fb", partitions: 4)
        for (key, values) in [("order-1", ["one", "two"]), ("order-2", ["three"])] {
            // librdkafka's own placement, as this project's producers use it.
            let place = Int(KeyPlacement(partitions: 4).partition(of: key))
            #expect(found[place].filter { $0.key == key }.map(\.value) == values)
        }
    }

    @Test("says that the topic is not there, and is written once it is")
    func missing() throws {
        let desk = Desk()
        desk.bench.cluster.set(error: RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, ofTopic: "fb")
        let fault = try #require(desk.write(feedbackLines("one")))
        #expect(fault.source == "fb" && fault.remedy.contains("--create --topic fb"))
        desk.bench.cluster.set(error: RD_KAFKA_RESP_ERR_NO_ERROR, ofTopic: "fb")
        while desk.write(feedbackLines("one")) != nil {}
        #expect(try desk.bench.records(of: "fb", partitions: 4).flatMap { $0 }.map(\.value).contains("one"))
    }

    @Test("waits for a broker that is away, and is there once afterwards")
    func away() throws {
        let desk = Desk()
        #expect(desk.write(feedbackLines("one")) == nil)
        desk.bench.cluster.takeDown(broker: 1)
        var isDone = false
        desk.writer.write(feedbackLines("two")) { fault in
            #expect(fault == nil)
            isDone = true
        }
        for _ in 0..<20 { desk.bench.loop.runOnce(timeoutMilliseconds: 10) }
        #expect(!isDone)
        desk.bench.cluster.bringUp(broker: 1)
        desk.bench.drive(until: { isDone })
        #expect(try desk.bench.records(of: "fb", partitions: 4).flatMap { $0 }.map(\.value) == ["one", "two"])
    }
}
