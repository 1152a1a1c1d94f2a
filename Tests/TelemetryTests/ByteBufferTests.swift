import Telemetry
import Testing

@Suite struct ByteBufferTests {
    private func written(_ body: (inout ByteBuffer) -> Void) -> String {
        var buffer = ByteBuffer()
        body(&buffer)
        return buffer.text
    }

    @Test(arguments: [
        (
            #" { "a" : [ 1 , 2.50 , true , null , "x" ] , "b" : { } , "c" : [ ] } "#,
            #"{"a":[1,2.50,true,null,"x"],"b":{},"c":[]}"#
        ),
        (#""a\/b\u00e9\ud83d\ude00\u0041""#, #""a/bé😀A""#),
        (#""\u0000\u0001\u001f\b\t\n\f\r\"\\\u007f""#, "\"\\u0000\\u0001\\u001f\\b\\t\\n\\f\\r\\\"\\\\\u{7f}\""),
        ("\"\u{2028}\"", "\"\u{2028}\""), ("12345678901234567890", "12345678901234567890"),
        (#"{"\n":{"":-0.0}}"#, #"{"\n":{"":-0.0}}"#),
        ("false", "false"), ("\"\"", "\"\""),
    ])
    func jsonIsWrittenAsShortAsItGoes(text: String, expected: String) throws {
        let value = try json(text)
        #expect(written { $0.append(value) } == expected)
        #expect(value.byteCount == expected.utf8.count)
        // What was written is the same value again.
        #expect(try json(expected) == value)
    }

    @Test func contentStatesCountTheirBytes() throws {
        let state = ContentState(try object(#"{"a":{"b":"é\u0001"},"c":[1,2]}"#))
        #expect(written { $0.append(state) }.utf8.count == state.byteCount)
    }

    @Test func integersHaveAllTheirDigits() {
        for (integer, text) in [
            (0, "0"), (7, "7"), (-7, "-7"), (10, "10"), (99, "99"), (100, "100"), (Int64.max, "9223372036854775807"),
            (Int64.min, "-9223372036854775808"),
        ] {
            #expect(written { $0.append(integer: integer) } == text)
        }
        #expect(written { $0.append(integer: UInt64.max) } == "18446744073709551615")
    }

    @Test(
        arguments: [
            (0, "0"), (1, "0.001"), (10, "0.01"), (500, "0.5"), (1000, "1"), (1_773_000_600_500, "1773000600.5"),
            (1_773_000_600_000, "1773000600"),
            (1_773_000_600_007, "1773000600.007"), (1_773_000_600_120, "1773000600.12"), (-1, "-0.001"),
            (-1500, "-1.5"),
            (Int64.min, "-9223372036854775.808"),
        ] as [(Int64, String)])
    func millisecondsAreWrittenAsSeconds(milliseconds: Int64, text: String) {
        #expect(written { $0.append(secondsOfMilliseconds: milliseconds) } == text)
        #expect(JSONNumber(secondsOfMilliseconds: milliseconds).text == text)
        #expect(JSONNumber(secondsOfMilliseconds: milliseconds).double == Double(text))
    }

    @Test func oneBufferServesManyPayloads() {
        var buffer = ByteBuffer(capacity: 8)
        buffer.append(raw: "{\"aps\":{}}")
        buffer.truncate(to: 6)
        buffer.append(byte: UInt8(ascii: "1"))
        #expect(buffer.text == "{\"aps\"1")
        buffer.removeAll()
        #expect(buffer.isEmpty && buffer.text.isEmpty)
        buffer.append(string: "x")
        #expect(buffer.withUnsafeBytes { $0.count } == 3)
    }
}
