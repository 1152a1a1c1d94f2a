import RedisClient
import RedisFixture
import Sockets
import Telemetry
import Testing

@testable import Streams

private struct Recorded: Equatable {
    let partition: Int32
    let offset: Int64
    let key: String?
    let value: String
}

private func event(_ number: Int) -> String {
    #"{"type":"status","activityId":"a\#(number)","timestamp":1,"status":"on"}"#
}

private func recorder(
    _ bench: StreamBench, _ path: String, _ change: (inout RedisStreamRecorder.Settings) -> Void
) throws -> RedisStreamRecorder {
    var settings = RedisStreamRecorder.Settings(topic: "rides", partitions: 3)
    settings.readCount = 10
    change(&settings)
    return RedisStreamRecorder(
        client: bench.client, loop: bench.loop, settings: settings, writer: try RecordingWriter(path: path))
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
                value: String(decoding: record.value, as: UTF8.self)))
    }
    return found
}

@Suite("Recording streams")
struct RedisStreamRecorderTests {
    @Test("What streams hold is one recording in the order of its ids, however much one of them holds more")
    func merged() throws {
        let bench = try StreamBench()
        for number in 1...300 {
            let partition = number % 7 == 0 ? 1 : number % 50 == 0 ? 2 : 0
            try bench.server.call(
                "XADD", "rides:{\(partition)}", "\(1_000 + number / 3)-\(number % 3)", "key", "k\(number)", "event",
                event(number))
        }
        try bench.withPath { path in
            let recorder = try recorder(bench, path) { $0.isFromBeginning = true }
            bench.drive(until: { recorder.records == 300 })
            try recorder.finish()
            let found = try records(path)
            #expect(found.map(\.value) == (1...300).map(event))
            #expect(found.map(\.key) == (1...300).map { "k\($0)" })
            #expect(found[49].partition == 2)
            #expect(found[49].offset == RedisStreamID(milliseconds: 1_016, sequence: 2).offset)
        }
    }

    @Test("From now on means from now on")
    func fromNow() throws {
        let bench = try StreamBench()
        try bench.server.call("XADD", "rides:{0}", "*", "event", event(1))
        try bench.withPath { path in
            let recorder = try recorder(bench, path) { _ in }
            bench.drive(until: { recorder.hasBegun })
            try bench.server.call("XADD", "rides:{0}", "*", "event", event(2))
            // A stream that was not there before.
            try bench.server.call("XADD", "rides:{2}", "*", "event", event(3))
            bench.drive(until: { recorder.records == 2 })
            try recorder.finish()
            #expect(Set(try records(path).map(\.value)) == [event(2), event(3)])
        }
    }

    @Test("No more records than asked for")
    func counted() throws {
        let bench = try StreamBench()
        for number in 1...50 { try bench.server.call("XADD", "rides:{0}", "*", "event", event(number)) }
        try bench.withPath { path in
            let recorder = try recorder(bench, path) {
                $0.isFromBeginning = true
                $0.mostRecords = 7
            }
            bench.drive(until: { recorder.isDone })
            try recorder.finish()
            #expect(try records(path).map(\.value) == (1...7).map(event))
        }
    }

    @Test("Entries without the body field are counted and left out")
    func withoutBody() throws {
        let bench = try StreamBench()
        try bench.server.call("XADD", "rides:{0}", "*", "other", "x")
        try bench.server.call("XADD", "rides:{0}", "*", "other", "x", "payload", event(1), "key", "")
        try bench.server.call("XADD", "rides:{0}", "*", "payload", "no JSON")
        try bench.withPath { path in
            let recorder = try recorder(bench, path) {
                $0.isFromBeginning = true
                $0.bodyField = "payload"
            }
            bench.drive(until: { recorder.records == 2 })
            try recorder.finish()
            #expect(recorder.withoutBody == 1)
            #expect(try records(path).first?.value == event(1))
            #expect(try records(path).first?.key == "")
        }
    }

    @Test("A key that is no stream, and an id that no clock gives, end it")
    func refused() throws {
        let bench = try StreamBench()
        try bench.server.call("XADD", "rides:{1}", "18446744073709551615-1", "event", event(1))
        try bench.withPath { path in
            let recorder = try recorder(bench, path) { $0.isFromBeginning = true }
            bench.drive(until: { recorder.isDone })
            #expect(
                recorder.fault?.problem == "rides:{1} holds the id 18446744073709551615-1, which no clock gives")
        }
        try bench.server.call("SET", "rides:{0}", "text")
        try bench.withPath { path in
            let recorder = try recorder(bench, path) { _ in }
            bench.drive(until: { recorder.isDone })
            #expect(recorder.fault?.problem.hasPrefix("Redis refuses XREVRANGE on rides:{0} (WRONGTYPE") == true)
        }
    }

    @Test("A restart of Redis in between costs nothing that it has kept")
    func restarted() throws {
        let bench = try StreamBench(["--appendonly", "yes", "--appendfsync", "always"])
        try bench.withPath { path in
            let recorder = try recorder(bench, path) { $0.isFromBeginning = true }
            for number in 1...20 { try bench.server.call("XADD", "rides:{0}", "*", "event", event(number)) }
            bench.drive(until: { recorder.records == 20 })
            bench.server.kill()
            bench.drive(until: { bench.client.status != .connected })
            try bench.server.start()
            for number in 21...40 { try bench.server.call("XADD", "rides:{0}", "*", "event", event(number)) }
            bench.drive(until: { recorder.records == 40 })
            try recorder.finish()
            #expect(try records(path).map(\.value) == (1...40).map(event))
        }
    }
}
