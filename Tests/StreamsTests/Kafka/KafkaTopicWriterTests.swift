import CRdkafka
import KafkaClient
import Testing

@testable import Streams

@Suite("Writing to a topic")
struct KafkaTopicWriterTests {
    private func writer(_ bench: TopicBench, patience: Int64 = 60_000) throws -> (KafkaProducer, KafkaTopicWriter) {
        var settings = KafkaTopicWriter.Settings(topic: "rides")
        settings.patienceMilliseconds = patience
        let producer = try bench.producer(settings.producing)
        return (producer, KafkaTopicWriter(producer: producer, settings: settings))
    }

    private func append(_ writer: KafkaTopicWriter, _ key: String, _ value: String, partition: Int32) {
        let (key, value) = (Array(key.utf8), Array(value.utf8))
        key.withUnsafeBytes { key in
            value.withUnsafeBytes { value in
                writer.append(
                    ReplayedRecord(
                        partition: partition, key: key, value: value, dueMilliseconds: 0))
            }
        }
    }

    @Test("Records stand in their partitions, in their order, with their keys; one without a key has none")
    func order() throws {
        let bench = TopicBench(topics: ["rides": 3])
        let (producer, writer) = try writer(bench)
        for number in 0..<300 { append(writer, "k\(number % 3)", "\(number)", partition: Int32(number % 3)) }
        append(writer, "", "keyless", partition: 2)
        #expect(writer.waiting == 301)
        bench.drive({ writer.advance() }, until: { writer.waiting == 0 })
        #expect(writer.appended == 301 && writer.fault == nil)
        bench.close { producer.close($0) }
        let found = try bench.records(of: "rides", partitions: 3)
        for partition in 0..<3 {
            #expect(found[partition].prefix(100).map(\.value) == (0..<100).map { "\($0 * 3 + partition)" })
            #expect(found[partition].prefix(100).allSatisfy { $0.key == "k\(partition)" })
        }
        #expect(found[2].count == 101 && found[2][100].key == nil && found[2][100].value == "keyless")
    }

    @Test("Brokers that are away are waited for, and nothing is missing or there twice")
    func away() throws {
        let bench = TopicBench(topics: ["rides": 1])
        let (producer, writer) = try writer(bench)
        append(writer, "k", "0", partition: 0)
        bench.drive({ writer.advance() }, until: { writer.waiting == 0 })
        bench.cluster.takeDown(broker: -1)
        for number in 1..<50 { append(writer, "k", "\(number)", partition: 0) }
        bench.drive({ writer.advance() }, until: { if case .failing = producer.status { true } else { false } })
        #expect(writer.fault == nil && writer.waiting == 49)
        bench.cluster.bringUp(broker: -1)
        // An answer that is lost: the record stands, and is sent again.
        bench.cluster.fail(.produce, [RD_KAFKA_RESP_ERR__TRANSPORT])
        bench.drive({ writer.advance() }, until: { writer.waiting == 0 })
        #expect(writer.fault == nil && writer.repeated == 0)
        bench.close { producer.close($0) }
        #expect(try bench.records(of: "rides", partitions: 1)[0].map(\.value) == (0..<50).map { "\($0)" })
    }

    @Test("Where nothing is acknowledged for too long it gives up, and says why")
    func patience() throws {
        let bench = TopicBench(topics: ["rides": 1])
        let (producer, writer) = try writer(bench, patience: 300)
        bench.cluster.takeDown(broker: -1)
        append(writer, "k", "0", partition: 0)
        bench.drive({ writer.advance() }, until: { writer.fault != nil })
        #expect([.unreachable, .timeout].contains(writer.fault?.kind))
        #expect(!writer.hasRoom)
        bench.close { producer.close($0) }
    }

    @Test("A record that brokers refuse is its end")
    func refused() throws {
        let bench = TopicBench(topics: ["rides": 1])
        let (producer, writer) = try writer(bench)
        bench.cluster.fail(.produce, [RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED])
        append(writer, "k", "0", partition: 0)
        bench.drive({ writer.advance() }, until: { writer.fault != nil })
        #expect(writer.fault?.kind == .forbidden)
        #expect(writer.fault?.problem.contains("rides[0]") == true)
        bench.close { producer.close($0) }
    }

    @Test("Where there is no room for so many bytes the record waits, and nothing overtakes it")
    func full() throws {
        let bench = TopicBench(topics: ["rides": 1])
        bench.settings.properties["queue.buffering.max.kbytes"] = "1024"
        bench.cluster.takeDown(broker: -1)
        let (producer, writer) = try writer(bench)
        var count = 0
        let text = String(repeating: "x", count: 100_000)
        while writer.hasRoom {
            append(writer, "k", "\(count) \(text)", partition: 0)
            count += 1
        }
        #expect(count > 5 && count < 20 && writer.waiting == count && writer.fault == nil)
        bench.cluster.bringUp(broker: -1)
        bench.drive({ writer.advance() }, until: { writer.waiting == 0 })
        #expect(writer.appended == count)
        bench.close { producer.close($0) }
        let found = try bench.records(of: "rides", partitions: 1)[0].map { $0.value.prefix { $0 != " " } }
        #expect(found == (0..<count).map { "\($0)" })
    }
}
