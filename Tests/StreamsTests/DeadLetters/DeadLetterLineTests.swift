import Glibc
import RedisClient
import Telemetry
import Testing

@testable import Streams

@Suite("Dead letters in a file")
struct DeadLetterLineTests {
    private func letter() -> DeadLetter {
        var letter = DeadLetter(
            reason: "missing_field:latitude", detail: "say \"where\"\nit is", stage: .decode, source: "rides:{3}",
            value: Array("{\"type\":\u{1F}".utf8) + [0xFF, 0x00, 0x0A])
        letter.topic = "rides"
        letter.partition = 3
        letter.offset = 1_773_000_600_500 << 20 | 7
        letter.entry = RedisStreamID("1773000600500-7")
        letter.group = "waypulse"
        letter.instance = "host-1"
        letter.version = "0.1.0"
        letter.firstFailedAtMilliseconds = 1_773_000_600_123
        letter.attempts = 3
        letter.key = [0x6B, 0xFE]
        letter.headers = [DeadLetter.Header(name: "traceparent", value: Array("00-4bf9-00f0-01".utf8))]
        return letter
    }

    private func line(_ letter: DeadLetter, identifier: String? = nil) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.append(line: letter, identifier: identifier)
        return buffer
    }

    @Test("A letter comes back from its line as it was, with bytes that are no text")
    func roundTrip() throws {
        let letter = letter()
        let back = line(letter).withUnsafeBytes { DeadLetter(line: $0) }
        #expect(back == letter)
        #expect(back?.traceparent == "00-4bf9-00f0-01")
    }

    @Test("An update keeps its content-state as JSON")
    func update() throws {
        var letter = DeadLetter(
            reason: "BadDeviceToken", detail: "refused", stage: .push, source: "g",
            value: Array(#"{"a":[1,{"b":null}]}"#.utf8))
        letter.activityIdentifier = "order-1"
        letter.sequence = 12
        letter.firstFailedAtMilliseconds = 1
        #expect(
            line(letter).text.contains(#""activityId":"order-1","sequence":12,"contentState":{"a":[1,{"b":null}]}}"#))
        #expect(line(letter).withUnsafeBytes { DeadLetter(line: $0) } == letter)
    }

    @Test("Lines of versions that knew fewer fields are read")
    func olderLine() throws {
        let text = #"{"reason":"not_json","explanation":"x","source":"ride.jsonl","record":4,"valueBase64":"Zm9vYg=="}"#
        let letter = try #require(Array(text.utf8).withUnsafeBytes { DeadLetter(line: $0) })
        #expect((letter.record, letter.offset, letter.attempts, letter.stage) == (4, -1, 1, .decode))
        #expect(letter.value == Array("foob".utf8))
    }

    @Test(
        "What is no dead letter is none",
        arguments: [
            "", "{}", "null", #"{"reason":"x"}"#, #"{"reason":"x","explanation":"y"}"#,
            #"{"reason":"x","explanation":"y","valueBase64":"Zm9"}"#,
            #"{"reason":"x","explanation":"y","valueBase64":"Zm=v"}"#,
            #"{"reason":"x","explanation":"y","valueBase64":"====" }"#,
            #"{"reason":1,"explanation":"y","valueBase64":""}"#,
        ])
    func strangers(_ text: String) {
        #expect(Array(text.utf8).withUnsafeBytes { DeadLetter(line: $0) } == nil)
    }

    @Test("Base64 of any length comes back", arguments: 0...9)
    func base64(_ count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 83 &+ 250) }
        var buffer = ByteBuffer()
        bytes.withUnsafeBytes { Base64.append($0, to: &buffer) }
        #expect(Base64.decode(buffer.text) == bytes)
    }

    @Test("A reader passes over what a full disk cut short, and counts it")
    func brokenLine() throws {
        let path = "/tmp/waypulse-dead-letters-\(UInt64.random(in: .min ... .max)).jsonl"
        defer { unlink(path) }
        let log = try DeadLetterLog(path: path)
        try log.append([letter()])
        let descriptor = open(path, O_WRONLY | O_APPEND)
        #expect(write(descriptor, "{\"reason\":\"not_j\n", 17) == 17)
        close(descriptor)
        try log.append([letter(), letter()])
        let reader = try DeadLetterReader(path: path)
        var lines: [Int] = []
        while let found = try reader.next() {
            #expect(found == letter())
            lines.append(reader.lineNumber)
        }
        #expect(lines == [1, 3, 4])
        #expect(reader.strangers == 1)
    }

    @Test("A disk that takes nothing is told, and the letter may be written again")
    func fullDisk() throws {
        let log = try DeadLetterLog(path: "/dev/full")
        let fault = #expect(throws: SourceFault.self) { try log.append([letter()]) }
        #expect(fault?.problem == "dead letters cannot be written (No space left on device)")
    }

    @Test("A record goes into a recording with its key and place, or as it came where nobody knows that")
    func recorded() {
        var buffer = ByteBuffer()
        var letter = letter()
        (letter.key, letter.value) = (Array("k".utf8), Array("{\n}".utf8))
        buffer.append(recorded: letter)
        letter.offset = -1
        buffer.append(recorded: letter)
        #expect(
            buffer.text == """
                {"partition":3,"offset":\(1_773_000_600_500 << 20 | 7),"key":"k","receivedAt":1773000600.5,"value":{ }}
                { }

                """)
    }
}
