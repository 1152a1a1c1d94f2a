import Telemetry
import Testing

/// Nasty texts in the manner of the JSON test suites, each beside what RFC 8259 and the event reference make of it.
@Suite struct JSONParserTests {
    private func reason(_ bytes: [UInt8]) -> String? {
        bytes.withUnsafeBytes { bytes in
            do throws(EventFault) {
                _ = try JSONParser.parse(bytes)
                return nil
            } catch {
                return error.reason.name
            }
        }
    }

    private func reason(_ text: String) -> String? { reason(Array(text.utf8)) }

    @Test(arguments: [
        "{}", "[]", "0", "-0", "-1", "1.5", "1e5", "1E5", "1e+5", "1e-5", "0.1e1", "0e0", "1.0E-0", "\"\"", "\"a\"",
        "true", "false", "null",
        " \t\r\n{ \"a\" : [ 1 , 2 ] } \n", "[[]]", "[{}]", "{\"\":0}", "{\"a\":{\"a\":{\"a\":1}}}", #""\u0000""#,
        #""\"\\\/\b\f\n\r\t""#,
        #""\uD83D\uDE00""#, #""\ud83d\ude00""#, #""\uFFFF""#, #""\u007f""#, "\"\u{7f}\"", "\"\u{2028}\"",
        "\"é\u{10FFFF}\"", "\"\u{FEFF}\"",
        "{\"a\":1,\"A\":2}", "{\"e\u{301}\":1,\"\u{e9}\":2}", #"{"a\u0000":1,"a":2}"#, "123456789012345678901234567890",
        "-9223372036854775809",
        "1e-999", "0.000000000000000000000000000000000000000000000000000001", "1.7976931348623157e308", "5e-324",
        "[1,\"a\",null,true,{\"b\":[]}]", #"["\\"]"#, #"["\\\""]"#, #"{"a":"}]"}"#, "[\n\n]",
        "{\"a\":\"x\",\"b\":\"x\"}",
    ])
    func soundTextsAreTaken(text: String) {
        #expect(reason(text) == nil)
    }

    @Test(arguments: [
        "", " ", "\n\t ", "{", "}", "[", "]", "\"", "\"a", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}",
        "[1", "[1,", "[1,]", "[,1]", "[,]",
        "[1 2]", "[1,,2]", "{,}", "{\"a\"}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{\"a\":1,,\"b\":2}", "{a:1}", "{'a':1}",
        "{1:1}", "{null:1}", "{\"a\"::1}",
        "{\"a\":1]", "[1}", "[}", "{]", "{[", "[{]}", ":", ",", "{\"a\":}", "{:1}", "{\"a\":1}}", "{\"a\":1}{", "{}{}",
        "{} {}", "[] []", "1 2", "{}x", "{},",
        "{}\u{0}", "\u{0}", "{\"a\":\u{0}}", "{}//c", "/**/{}", "{\"a\":/**/1}", "#{}", "\u{FEFF}{}", "\u{A0}{}",
        "{}\u{A0}", "\u{B}{}", "\u{C}{}", "{\u{2028}}",
        "tru", "truee", "True", "TRUE", "nul", "nulll", "fals", "falsey", "NaN", "nan", "-NaN", "Infinity", "-Infinity",
        "inf", "undefined", "[NaN]", "-nan",
        "{\"a\":NaN}", "{\"a\":Infinity}", "{\"a\":-Infinity}", "+1", "-", "--1", "- 1", "-a", ".5", "-.5", "5.",
        "5.e1", "01", "-01", "00", "0x10", "0b1", "0o7", "1e",
        "1e+", "1e-", "1E", "1e1.5", "1.2.3", "1_000", "1,000", "1a", "1e5x", "1.5.", "0.", "-0.", "1\"a\"", "\"a\"1",
        "\"a\"\"b\"", "\"a\"b", "[\"a\"1]", "[1\"a\"]",
        "[true\"a\"]", "[\"a\"true]", "[truefalse]", "[nullnull]", "[1true]", "{\"a\"1:2}", "{\"a\"b:2}", "１", "[1]1",
        "[1]\"a\"", "{\"a\":1}1", "1[", "true[", "\"a\"[",
        "1{}", "true{}", "[1[2]]", "[\"a\"{}]", "{\"a\":1{}}",
        #""\a""#, #""\x41""#, #""\'""#, #""\u""#, #""\u1""#, #""\u12""#, #""\u123""#, #""\u123g""#, #""\U0041""#,
        #""\u 041""#, #""\""#, #""\\\""#, #""\u-123""#, #""\u+123""#,
        #""\ud800""#, #""\udc00""#, #""\uDFF3""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\u""#, #""\ud800\u0041""#,
        #""\ud800\ud800""#, #""\udc00\ud800""#,
        #""\ud800\udbff""#, #""x\ud83d""#, #"{"\ud800":1}"#, #"{"a":{"b":"\udfff"}}"#, #""\ud83d\u de00""#,
        "\"\n\"", "\"\t\"", "\"\r\"", "\"\u{1}\"", "\"\u{1F}\"", "\"a\u{0}b\"", "{\"a\nb\":1}", "{\"\t\":1}",
        "\"\\\n\"",
        "{\"a\":1,\"a\":1}", "{\"a\":1,\"b\":2,\"a\":3}", #"{"a":1,"\u0061":2}"#, "{\"\":1,\"\":2}",
        "{\"x\":{\"a\":1,\"a\":2}}", "[{\"a\":1,\"a\":2}]",
        "{\"type\":1,\"type\":1}", #"{"é":1,"\u00e9":2}"#, "*", "<xml/>", "(1)", "{\"a\":(1)}", "[1;2]", "{\"a\"=1}",
        "{\"a\"=>1}", "\\", "[\\n]", "\\u007b}", "$", "~", "`", "%7B%7D",
    ])
    func brokenTextsAreNoJSON(text: String) {
        #expect(reason(text) == "not_json", "\(text.debugDescription)")
    }

    @Test(
        arguments: [
            [0xFF], [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80],
            [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80],
            [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xC3], [0xE2, 0x82],
            [0xF0, 0x9F, 0x98], [0xC3, 0x28],
            [0xE2, 0x28, 0xA1], [0xF8, 0x88, 0x80, 0x80, 0x80],
        ] as [[UInt8]])
    func bytesThatAreNoUTF8AreNoJSONWhereverTheyStand(bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        #expect(reason([quote] + bytes + [quote]) == "not_json")
        #expect(reason(Array("{\"k".utf8) + bytes + Array("\":1}".utf8)) == "not_json")
        #expect(
            reason(Array("{\"k\":\"".utf8) + bytes + Array(" and much more text, past any vector's width\"}".utf8))
                == "not_json")
        #expect(reason(bytes + Array("{}".utf8)) == "not_json")
        #expect(reason(Array("{}".utf8) + bytes) == "not_json")
    }

    @Test(arguments: [
        "1e999", "-1e999", "1e309", "1.8e308", "100e2000", "123456789e301", "1\(String(repeating: "0", count: 400))",
    ])
    func numbersBeyondDoubleAreOutOfRange(text: String) {
        #expect(reason("{\"a\":\(text)}") == "out_of_range:a")
        #expect(reason("{\"a\":[0,{\"b\":\(text)}],\"c\":1}") == "out_of_range:a.1.b")
        // Broken is broken, whatever else it is.
        #expect(reason("{\"a\":\(text)") == "not_json")
    }

    @Test func nestingEndsAt64() {
        func nested(_ depth: Int, _ open: String, _ close: String, _ inside: String) -> String {
            String(repeating: open, count: depth) + inside + String(repeating: close, count: depth)
        }
        #expect(reason(nested(64, "[", "]", "")) == nil)
        #expect(reason(nested(65, "[", "]", "")) == "not_json")
        #expect(reason(nested(64, "{\"a\":", "}", "1")) == nil)
        #expect(reason(nested(65, "{\"a\":", "}", "1")) == "not_json")
        #expect(reason(nested(32, "[{\"a\":", "}]", "1")) == nil)
        #expect(reason(nested(32, "[{\"a\":", "}]", "[]")) == "not_json")
        #expect(reason(nested(60_000, "[", "", "")) == "not_json")
    }

    @Test func aKeyTwiceIsFoundAmongThousands() {
        let names = (0..<5000).map { "\"k\($0)\":0" }.joined(separator: ",")
        #expect(reason("{\(names)}") == nil)
        #expect(reason("{\(names),\"k17\":1}") == "not_json")
    }

    @Test func numbersKeepTheirText() throws {
        for text in ["1.50", "1E+2", "-0", "-0.0", "12345678901234567890", "0.1000", "1e-5"] {
            guard case .number(let number) = try json(text) else {
                Issue.record("\(text) is a number")
                continue
            }
            #expect(number.text == text)
            #expect(number.double == Double(text))
        }
    }

    @Test func escapesAreResolved() throws {
        #expect(try json(#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00""#) == .string("\"\\/\u{8}\u{c}\n\r\tAé€😀"))
    }

    @Test func aLimitOfBytesHolds() {
        let text = Array("\"\(String(repeating: "x", count: 65_534))\"".utf8)
        #expect(reason(text) == nil)
        #expect(reason(text + [0x20]) == "too_large")
    }
}
