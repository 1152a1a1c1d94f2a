import Glibc
import Telemetry
import Testing

@testable import Streams

/// A path where nothing is yet, cleared afterwards.
private func withPath<Result>(suffix: String, _ body: (String) throws -> Result) rethrows -> Result {
    let path = "/tmp/waypulse-recording-\(UInt64.random(in: .min ... .max))\(suffix)"
    defer { unlink(path) }
    return try body(path)
}

private func append(_ value: String, key: String? = "k", _ buffer: inout ByteBuffer) {
    Array(value.utf8).withUnsafeBytes { value in
        let key = key.map { Array($0.utf8) }
        func write(_ key: UnsafeRawBufferPointer?) {
            buffer.append(
                recorded: value, key: key, partition: 3, offset: 1_773_000_600_500 << 20 | 7,
                receivedAtMilliseconds: 1_773_000_600_500)
        }
        if let key { key.withUnsafeBytes { write($0) } } else { write(nil) }
    }
}

@Suite("Writing recordings")
struct RecordingWriterTests {
    private func line(_ value: String, key: String? = "k") -> String {
        var buffer = ByteBuffer()
        append(value, key: key, &buffer)
        return buffer.text
    }

    @Test("A line says where and when its event was published")
    func wrapper() {
        #expect(
            line(#"{"type":"status"}"#)
                == #"{"partition":3,"offset":1859125877669888007,"key":"k","receivedAt":1773000600.5,"value":{"type":"status"}}"#
                + "\n")
        #expect(!line("{}", key: nil).contains("key"))
    }

    @Test("Whatever a value holds, it is one line, and an event comes back as it was but for line breaks")
    func oneLine() throws {
        let pretty = "{\n  \"type\": \"status\",\r\n \"activityId\":\"a\",\"timestamp\":1,\"status\":\"on\"}"
        for value in [pretty, "no JSON\nat all", "", "}", "\"", "[1,\n2]"] {
            let line = line(value, key: "a \"key\"\n")
            #expect(line.utf8.filter { $0 == UInt8(ascii: "\n") }.count == 1)
            #expect(line.hasSuffix("\n"))
        }
        let recording = Recording(name: "test", bytes: Array(line(pretty, key: "é\"").utf8), apps: [])
        guard case .record = try recording.advance() else { return #expect(Bool(false)) }
        let record = recording.current.pointee
        #expect(record.fault == nil)
        #expect(record.partition == 3)
        #expect(record.offset == 1_773_000_600_500 << 20 | 7)
        #expect(record.key.map { RecordingLine.resolved(key: $0) } == Array("é\"".utf8))
        #expect(record.time == .received(milliseconds: 1_773_000_600_500))
        #expect(
            String(decoding: record.value, as: UTF8.self)
                == pretty.replacing("\r\n", with: "  ").replacing("\n", with: " "))
    }

    @Test("What was written is read back, plain and compressed", arguments: [".jsonl", ".jsonl.zst"])
    func readBack(_ suffix: String) throws {
        try withPath(suffix: suffix) { path in
            let writer = try RecordingWriter(path: path)
            for number in 0..<5_000 {
                try writer.write {
                    append(#"{"type":"status","activityId":"a\#(number)","timestamp":1,"status":"on"}"#, &$0)
                }
                if number == 100 { try writer.flush() }
            }
            #expect(writer.records == 5_000)
            try writer.finish()
            let recording = try Recording(path: path, apps: [])
            var number = 0
            while case .record = try recording.advance() {
                let identifier = String(decoding: recording.current.pointee.decoded.identifier, as: UTF8.self)
                #expect(identifier == "a\(number)")
                number += 1
            }
            #expect(number == 5_000)
        }
    }

    @Test("An empty recording is a valid file", arguments: [".jsonl", ".jsonl.zst"])
    func empty(_ suffix: String) throws {
        try withPath(suffix: suffix) { path in
            try RecordingWriter(path: path).finish()
            guard case .end = try Recording(path: path, apps: []).advance() else { return #expect(Bool(false)) }
        }
    }

    @Test("A file that is there is not written over")
    func exists() throws {
        try withPath(suffix: ".jsonl") { path in
            try RecordingWriter(path: path).finish()
            let fault = #expect(throws: SourceFault.self) { try RecordingWriter(path: path) }
            #expect(fault?.description == "\(path): exists already; name another file, or remove it")
        }
        let fault = #expect(throws: SourceFault.self) { try RecordingWriter(path: "/nowhere/x.jsonl") }
        #expect(fault?.problem == "cannot be made (No such file or directory)")
    }
}
