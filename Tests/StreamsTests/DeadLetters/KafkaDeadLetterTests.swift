import CRdkafka
import KafkaClient
import Testing

@testable import Streams

/// A topic of records and, where a test makes it, the topic of dead letters beside it.
private final class Desk {
    let bench: TopicBench
    let writer: KafkaDeadLetterWriter

    init(_ topics: [String: Int] = ["rides": 4, "dlq.rides": 4], deliveryTimeoutMilliseconds: Int = 30_000) {
        bench = TopicBench(topics: topics)
        var settings = KafkaDeadLetterWriter.Settings(topics: ["rides", "orders"], partitions: 4)
        settings.deliveryTimeoutMilliseconds = deliveryTimeoutMilliseconds
        var kafka = bench.settings
        kafka.properties["fetch.wait.max.ms"] = nil
        writer = KafkaDeadLetterWriter(
            kafka: kafka, settings: settings, loop: bench.loop, instruments: bench.instruments, log: bench.log)
    }

    func letter(_ offset: Int64, partition: Int32 = 1, key: String? = "order-1", value: String = "no JSON")
        -> DeadLetter
    {
        var letter = DeadLetter(
            reason: "not_json", detail: "it is none", stage: .decode, source: "rides[\(partition)]",
            value: Array(value.utf8))
        letter.topic = "rides"
        letter.partition = partition
        letter.offset = offset
        letter.key = key.map { Array($0.utf8) }
        letter.headers = [
            .init(name: "traceparent", value: Array("00-ab-cd-01".utf8)), .init(name: "raw", value: [0, 255]),
        ]
        (letter.group, letter.instance, letter.version) = ("g", "host-1", "0.1.0")
        letter.firstFailedAtMilliseconds = 1_773_000_600_123
        return letter
    }

    func write(_ letters: [DeadLetter]) -> Result<Void, SourceFault>? {
        answer { writer.write(letters, to: writer.topic(of: letters[0]), done: $0) }
    }

    /// As whoever has letters to keep does.
    func writeUntilKept(_ letters: [DeadLetter]) {
        while (try? write(letters)?.get()) == nil {}
    }

    func answer<Value>(_ ask: (@escaping (Value) -> Void) -> Void) -> Value? {
        var answer: Value?
        ask { answer = $0 }
        bench.drive(until: { answer != nil })
        return answer
    }

    /// All letters, partition by partition.
    func all(of topic: String = "dlq.rides", partitions: Int32 = 4) throws -> [KafkaDeadLetters.Stored] {
        let reader = try bench.reader(partitions: Int(partitions))
        let letters = KafkaDeadLetters(reader: reader, topic: topic)
        var found: [KafkaDeadLetters.Stored] = []
        for partition in 0..<partitions {
            let range = try #require(answer { letters.range(of: partition, done: $0) }).get()
            guard range.high > range.low else { continue }
            try letters.begin(partition, at: range.low, upTo: range.high)
            bench.drive {
                if let page = letters.next() { found += page.letters }
            } until: {
                letters.isAtEnd
            }
        }
        bench.close { reader.close($0) }
        return found
    }
}

@Suite("Dead letters in topics")
struct KafkaDeadLetterTests {
    @Test(
        "A letter has the record's key, value and headers, untouched, in the partition of the same number, and says beside them why"
    )
    func written() throws {
        let desk = Desk()
        let letters = [
            desk.letter(41), desk.letter(7, partition: 3, key: nil), desk.letter(8, partition: 3, value: ""),
        ]
        #expect(try desk.write(letters)?.get() != nil)
        let found = try desk.all()
        #expect(found.map(\.letter) == letters)
        #expect(found.map(\.partition) == [1, 3, 3])
        #expect(found.map(\.offset) == [0, 0, 1])
    }

    @Test("An update that no phone was told lies among the letters of the first topic, by its activity")
    func update() throws {
        let desk = Desk()
        var letter = desk.letter(-1, key: nil, value: "{}")
        (letter.stage, letter.topic, letter.headers) = (.push, nil, [])
        (letter.activityIdentifier, letter.sequence) = ("order-9", 12)
        #expect(desk.writer.topic(of: letter) == "dlq.rides")
        #expect(try desk.write([letter])?.get() != nil)
        #expect(try desk.all().map(\.letter) == [letter])
    }

    @Test("Where there are other numbers of partitions a letter lies by its key")
    func otherPartitions() throws {
        let desk = Desk(["rides": 4, "dlq.rides": 3])
        #expect(try desk.write([desk.letter(1, key: "order-1"), desk.letter(2, partition: 3, key: nil)])?.get() != nil)
        let found = try desk.all(partitions: 3)
        let placement = KeyPlacement(partitions: 3)
        #expect(found.first { $0.letter.offset == 1 }?.partition == placement.partition(of: "order-1"))
        #expect(found.first { $0.letter.offset == 2 }?.partition == 0)
        // Where it came from it says all the same.
        #expect(found.first { $0.letter.offset == 2 }?.letter.partition == 3)
    }

    @Test("A topic that is missing is a fault with what makes it, and is written to as soon as it is there")
    func missing() throws {
        let desk = Desk(["rides": 4, "dlq.orders": 4, "dlq.rides": 4])
        // The mock makes whatever it is asked about.
        desk.bench.cluster.set(error: RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, ofTopic: "dlq.rides")
        guard case .failure(let fault) = desk.answer({ desk.writer.check(done: $0) }) else {
            Issue.record("it passes")
            return
        }
        #expect(fault.source == "dlq.rides")
        #expect(fault.problem == "the topic of dead letters is not there, or this user may not Describe it")
        #expect(fault.remedy.contains("--create --topic dlq.rides --partitions 4, or set deadLetters.file"))
        #expect(desk.write([desk.letter(1)]).map { if case .failure(fault) = $0 { true } else { false } } == true)
        desk.bench.cluster.set(error: RD_KAFKA_RESP_ERR_NO_ERROR, ofTopic: "dlq.rides")
        #expect(try desk.answer { desk.writer.check(done: $0) }?.get() != nil)
        #expect(try desk.write([desk.letter(1)])?.get() != nil)
        #expect(try desk.all().map(\.letter.offset) == [1])
    }

    @Test("What was refused comes again, and what was kept then is there once")
    func again() throws {
        let desk = Desk()
        let letters = (0..<20).map { desk.letter(Int64($0), partition: Int32($0 % 4)) }
        desk.bench.cluster.fail(.produce, [RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED])
        guard case .failure(let fault) = desk.write(letters) else {
            Issue.record("all is kept")
            return
        }
        #expect(fault.source == "dlq.rides" && fault.problem.contains("dlq.rides["))
        desk.writeUntilKept(letters)
        #expect(try desk.all().map(\.letter.offset).sorted() == (0..<20).map { Int64($0) })
        // The same letter, later, is another one.
        #expect(try desk.write([letters[0]])?.get() != nil)
        #expect(try desk.all().count == 21)
    }

    @Test("Brokers that are away are a fault, and what waits is kept when they are back")
    func away() throws {
        let desk = Desk(deliveryTimeoutMilliseconds: 1_000)
        // So short a time may be over before the first connection stands.
        desk.writeUntilKept([desk.letter(0)])
        desk.bench.cluster.takeDown(broker: -1)
        #expect(desk.write([desk.letter(1)]).map { if case .failure = $0 { true } else { false } } == true)
        desk.bench.cluster.bringUp(broker: -1)
        desk.writeUntilKept([desk.letter(1)])
        #expect(Set(try desk.all().map(\.letter.offset)) == [0, 1])
    }

    @Test("A record goes back where it came from, byte for byte, with how often it failed; how far is noted")
    func redriven() throws {
        let desk = Desk()
        var second = desk.letter(2)
        second.attempts = 3
        #expect(try desk.write([desk.letter(1), second, desk.letter(5, partition: 2, key: nil)])?.get() != nil)
        let stored = try desk.all()
        let producer = try desk.bench.producer()
        let redrive = KafkaRedrive(producer: producer, topic: "rides")
        for letter in stored { #expect(redrive.publish(letter.letter)) }
        desk.bench.drive(until: { redrive.waiting == 0 })
        #expect(redrive.published == 3 && redrive.fault == nil)
        desk.bench.close { producer.close($0) }

        let reader = try desk.bench.reader(partitions: 4)
        let lane = try reader.open(KafkaTopicPartition("rides", 1), at: .beginning)
        let batch = KafkaBatch(capacity: 10)
        desk.bench.drive {
            if batch.count < 2 {
                batch.giveBack()
                lane.read(into: batch)
            }
        } until: {
            batch.count == 2
        }
        for place in 0..<2 {
            #expect(batch[place].key.elementsEqual("order-1".utf8))
            #expect(batch[place].value.elementsEqual("no JSON".utf8))
            var headers: [String: [UInt8]] = [:]
            batch[place].forEachHeader { headers[String(cString: $0)] = Array($1) }
            #expect(
                headers == [
                    "traceparent": Array("00-ab-cd-01".utf8), "raw": [0, 255],
                    "waypulse.dlq.attempts": Array(place == 0 ? "1".utf8 : "3".utf8),
                    "waypulse.dlq.first-failed-at": Array("1773000600123".utf8),
                ])
        }
        batch.giveBack()

        let letters = KafkaDeadLetters(reader: reader, topic: "dlq.rides")
        #expect(try desk.answer { letters.redriven(partitions: 4, done: $0) }?.get() == [nil, nil, nil, nil])
        #expect(try desk.answer { letters.note(2, of: 1, done: $0) }?.get() != nil)
        #expect(try desk.answer { letters.redriven(partitions: 4, done: $0) }?.get() == [nil, 2, nil, nil])
        desk.bench.close { reader.close($0) }
    }
}
