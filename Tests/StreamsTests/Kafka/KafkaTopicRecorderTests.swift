import CRdkafka
import KafkaClient
import Telemetry
import Testing

@testable import Streams

@Suite("Recording a topic")
struct KafkaTopicRecorderTests {
    private struct Recorded: Equatable {
        let partition: Int32
        let offset: Int64
        let key: String?
        let timeMilliseconds: Int64?
        let value: String
    }

    private func event(_ number: Int) -> String {
        #"{"type":"status","activityId":"a\#(number)","timestamp":1,"status":"on"}"#
    }

    private func recorder(
        _ bench: TopicBench, _ path: String, partitions: Int32 = 3,
        _ change: (inout KafkaTopicRecorder.Settings) -> Void
    ) throws -> (KafkaReader, KafkaTopicRecorder) {
        var settings = KafkaTopicRecorder.Settings(topic: "rides", partitions: partitions)
        change(&settings)
        let reader = try bench.reader(partitions: Int(partitions))
        return (
            reader,
            try KafkaTopicRecorder(reader: reader, settings: settings, writer: try RecordingWriter(path: path))
        )
    }

    private func finish(_ bench: TopicBench, _ reader: KafkaReader, _ recorder: KafkaTopicRecorder) throws {
        try recorder.finish()
        bench.close { reader.close($0) }
    }

    private func records(_ path: String) throws -> [Recorded] {
        let recording = try Recording(path: path, apps: nil)
        var found: [Recorded] = []
        while case .record = try recording.advance() {
            let record = recording.current.pointee
            found.append(
                Recorded(
                    partition: record.partition, offset: record.offset,
                    key: record.key.map { String(decoding: RecordingLine.resolved(key: $0), as: UTF8.self) },
                    timeMilliseconds: record.time.milliseconds, value: String(decoding: record.value, as: UTF8.self)))
        }
        return found
    }

    @Test("What a topic holds is one recording in the order of its times, however much one partition holds more")
    func merged() throws {
        let bench = TopicBench(topics: ["rides": 3])
        try bench.produce(
            (0..<3_000).map { number in
                .init(
                    key: "k\(number)", value: event(number), partition: number % 7 == 0 ? 1 : number % 50 == 0 ? 2 : 0,
                    timeMilliseconds: 1_773_000_000_000 + Int64(number))
            }, to: "rides")
        try bench.withPath { path in
            let (reader, recorder) = try recorder(bench, path) { $0.isFromBeginning = true }
            bench.drive({ recorder.advance() }, until: { recorder.records == 3_000 })
            #expect(recorder.hasBegun)
            try finish(bench, reader, recorder)
            let found = try records(path)
            #expect(found.map(\.value) == (0..<3_000).map(event))
            #expect(found.map(\.key) == (0..<3_000).map { "k\($0)" })
            #expect(found.map(\.timeMilliseconds) == (0..<3_000).map { 1_773_000_000_000 + Int64($0) })
            #expect(found[50].partition == 2 && found[50].offset == 0)
            #expect(found[100].partition == 2 && found[100].offset == 1)
        }
    }

    @Test("A record that bears an earlier time than the one before it stays behind it")
    func backwards() throws {
        let bench = TopicBench(topics: ["rides": 2])
        let times: [(Int32, Int64)] = [(0, 1_000), (0, 5_000), (0, 2_000), (1, 3_000), (1, 6_000)]
        try bench.produce(
            times.enumerated().map {
                .init(value: event($0.offset), partition: $0.element.0, timeMilliseconds: $0.element.1)
            },
            to: "rides")
        try bench.withPath { path in
            let (reader, recorder) = try recorder(bench, path, partitions: 2) { $0.isFromBeginning = true }
            bench.drive({ recorder.advance() }, until: { recorder.records == 5 })
            try finish(bench, reader, recorder)
            let found = try records(path)
            #expect(found.map(\.value) == [0, 3, 1, 2, 4].map(event))
            #expect(found.map(\.timeMilliseconds) == [1_000, 3_000, 5_000, 5_000, 6_000])
        }
    }

    @Test("From now on means from now on")
    func fromNow() throws {
        let bench = TopicBench(topics: ["rides": 3])
        try bench.produce([.init(value: event(1))], to: "rides")
        try bench.withPath { path in
            let (reader, recorder) = try recorder(bench, path) { _ in }
            bench.drive({ recorder.advance() }, until: { recorder.hasBegun })
            try bench.produce([.init(value: event(2)), .init(value: event(3), partition: 2)], to: "rides")
            bench.drive({ recorder.advance() }, until: { recorder.records == 2 })
            try finish(bench, reader, recorder)
            #expect(Set(try records(path).map(\.value)) == [event(2), event(3)])
        }
    }

    @Test("No more records than asked for")
    func counted() throws {
        let bench = TopicBench(topics: ["rides": 3])
        try bench.produce((0..<50).map { .init(value: event($0)) }, to: "rides")
        try bench.withPath { path in
            let (reader, recorder) = try recorder(bench, path) {
                $0.isFromBeginning = true
                $0.mostRecords = 7
            }
            bench.drive({ recorder.advance() }, until: { recorder.isDone })
            try finish(bench, reader, recorder)
            #expect(try records(path).map(\.value) == (0..<7).map(event))
        }
    }

    @Test("A tombstone is counted and left out, and of a schema registry's frame the JSON inside is recorded")
    func contents() throws {
        let bench = TopicBench(topics: ["rides": 1])
        let framed = "\u{0}\u{0}\u{0}\u{0}\u{7}" + event(2)
        try bench.produce(
            [.init(key: "k", value: nil), .init(value: event(1)), .init(value: framed), .init(value: "no JSON")],
            to: "rides")
        try bench.withPath { path in
            let (reader, recorder) = try recorder(bench, path, partitions: 1) { $0.isFromBeginning = true }
            bench.drive({ recorder.advance() }, until: { recorder.records == 3 })
            try finish(bench, reader, recorder)
            #expect(recorder.withoutBody == 1)
            let found = try records(path)
            #expect(found.prefix(2).map(\.value) == [event(1), event(2)])
            #expect(found.map(\.key).first == .some(nil))
        }
    }

    @Test("Brokers that are away for a while cost nothing, and for too long are the end of it")
    func away() throws {
        let bench = TopicBench(topics: ["rides": 1])
        try bench.produce((0..<20).map { .init(value: event($0)) }, to: "rides")
        try bench.withPath { path in
            let (reader, recorder) = try recorder(bench, path, partitions: 1) { $0.isFromBeginning = true }
            bench.drive({ recorder.advance() }, until: { recorder.records == 20 })
            bench.cluster.takeDown(broker: -1)
            bench.drive({ recorder.advance() }, until: { if case .failing = reader.status { true } else { false } })
            bench.cluster.bringUp(broker: -1)
            try bench.produce((20..<40).map { .init(value: event($0)) }, to: "rides")
            bench.drive({ recorder.advance() }, until: { recorder.records == 40 })
            #expect(recorder.fault == nil)
            try finish(bench, reader, recorder)
            #expect(try records(path).map(\.value) == (0..<40).map(event))
        }
        bench.cluster.takeDown(broker: -1)
        try bench.withPath { path in
            let (reader, recorder) = try recorder(bench, path, partitions: 1) { $0.patienceMilliseconds = 200 }
            bench.drive({ recorder.advance() }, until: { recorder.isDone })
            #expect(recorder.fault?.kind == .unreachable)
            try finish(bench, reader, recorder)
        }
    }

    @Test("A topic that may not be read is told")
    func forbidden() throws {
        let bench = TopicBench(topics: ["rides": 1])
        try bench.produce([.init(value: event(1))], to: "rides")
        bench.cluster.fail(.fetch, [RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED])
        try bench.withPath { path in
            let (reader, recorder) = try recorder(bench, path, partitions: 1) { $0.isFromBeginning = true }
            bench.drive({ recorder.advance() }, until: { recorder.isDone })
            #expect(recorder.fault?.kind == .forbidden)
            #expect(recorder.fault?.problem.contains("rides[0]") == true, "\(String(describing: recorder.fault))")
            try finish(bench, reader, recorder)
        }
    }
}
