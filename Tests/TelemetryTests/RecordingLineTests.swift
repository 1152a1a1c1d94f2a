import Testing

@testable import Telemetry

@Suite struct RecordingLineTests {
    private struct Parts: Equatable {
        var partition: Int32?
        var offset: Int64?
        var key: String?
        var receivedAtMilliseconds: Int64?
        var value: String
    }

    private func parts(_ text: String, inFull: Bool = false) throws -> Parts {
        try Array(text.utf8).withUnsafeBytes { bytes in
            let line = inFull ? try RecordingLine.parseInFull(bytes) : try RecordingLine.parse(bytes)
            return Parts(
                partition: line.partition, offset: line.offset,
                key: line.key.map { String(decoding: $0, as: UTF8.self) },
                receivedAtMilliseconds: line.receivedAtMilliseconds, value: String(decoding: line.value, as: UTF8.self))
        }
    }

    private func reason(_ text: String) -> String? {
        do {
            _ = try parts(text)
            return nil
        } catch {
            return (error as? EventFault)?.reason.name
        }
    }

    @Test func aWrapperLendsTheEventInsideIt() throws {
        let text =
            #"{"partition":3,"offset":1042,"key":"order-4711","receivedAt":1773000600.5,"value":{"type":"status","a":"}"}}"#
        #expect(
            try parts(text)
                == Parts(
                    partition: 3, offset: 1042, key: "order-4711", receivedAtMilliseconds: 1_773_000_600_500,
                    value: #"{"type":"status","a":"}"}"#))
    }

    @Test(arguments: [
        #"{"type":"position","value":5,"offset":-1}"#, #"{"value":{},"type":"position"}"#,
        #"{"activityId":"a","timestamp":1,"type":"position"}"#,
        #"{"activityId":"a"}"#, "{}", "[]", "7", "{\"pos\":[{}],\"type\":1}",
    ])
    func aLineWithATypeOrWithoutAnyFieldOfAWrapperIsAnEvent(text: String) throws {
        #expect(try parts(text) == Parts(value: text))
        #expect(try parts(text, inFull: true) == Parts(value: text))
    }

    @Test(arguments: [
        #"{"value":{}}"#, #" { "value" : { "a" : [ ] } , "offset" : 0 } "#,
        #"{"receivedAt":"2026-03-08T20:10:00Z","value":{}}"#,
        #"{"receivedAt":null,"key":null,"partition":null,"offset":null,"value":{}}"#, #"{"key":"a\u0062","value":{}}"#,
        #"{"key":"ü","value":{}}"#,
        #"{"val\u0075e":{}}"#, #"{"broker":"b-1","value":{},"headers":[{"a":1}]}"#, #"{"value":null}"#,
        #"{"value":"x"}"#, #"{"value":[1,{"a":2}],"offset":7}"#,
        #"{"offset":9223372036854775807,"value":{}}"#, #"{"partition":2147483647,"value":{}}"#,
        #"{"receivedAt":1773000600,"value":{}}"#,
        #"{"receivedAt":1.7730006e9,"value":{}}"#, #"{"receivedAt":0.5,"value":{}}"#, #"{"receivedAt":-1,"value":{}}"#,
        #"{"value":{"x":"\"}\\"},"offset":1}"#,
    ])
    func theQuickWayAndTheGeneralWayAgree(text: String) throws {
        let parts = try parts(text)
        #expect(parts == (try self.parts(text, inFull: true)))
        #expect(parts.value != text)
    }

    @Test(arguments: [
        (#"{"partition":3,"offset":1}"#, "missing_field:value"),
        (#"{"partition":"3","value":{}}"#, "wrong_type:partition"),
        (#"{"partition":-1,"value":{}}"#, "out_of_range:partition"),
        (#"{"partition":2147483648,"value":{}}"#, "out_of_range:partition"),
        (#"{"partition":1.5,"value":{}}"#, "out_of_range:partition"),
        (#"{"offset":-1,"value":{}}"#, "out_of_range:offset"),
        (#"{"offset":9223372036854775808,"value":{}}"#, "out_of_range:offset"),
        (#"{"offset":1e3,"value":{}}"#, "out_of_range:offset"),
        (#"{"offset":[],"value":{}}"#, "wrong_type:offset"), (#"{"key":5,"value":{}}"#, "wrong_type:key"),
        (#"{"receivedAt":1773000600500,"value":{}}"#, "bad_timestamp"),
        (#"{"receivedAt":"x","value":{}}"#, "bad_timestamp"),
        (#"{"receivedAt":true,"value":{}}"#, "wrong_type:receivedAt"),
        (#"{"offset":1,"offset":2,"value":{}}"#, "not_json"),
        (#"{"value":{},"value":{}}"#, "not_json"), (#"{"offset":01,"value":{}}"#, "not_json"),
        (#"{"receivedAt":1.,"value":{}}"#, "not_json"),
        (#"{"offset":1,"value":{}"#, "not_json"), (#"{"offset":1,"value":{}}}"#, "not_json"),
        (#"{"value":{}} x"#, "not_json"), (#"{"value":{},}"#, "not_json"),
        (#"{"offset":1"value":{}}"#, "not_json"),
    ])
    func aWrapperHasFaultsOfItsOwn(text: String, expected: String) {
        #expect(reason(text) == expected)
    }

    @Test func theWrapperCountsNeitherInDepthNorInSize() throws {
        var decoder = EventDecoder(apps: [])
        // The event's own braces are 1, so 63 arrays fit inside it.
        let deep = position(",\"x\":" + String(repeating: "[", count: 63) + String(repeating: "]", count: 63))
        let frame = position(#","pad":"""#).utf8.count
        let large = position(#","pad":"\#(String(repeating: "x", count: 65_536 - frame))""#)
        for event in [deep, large] {
            for wrapper in [#"{"offset":1,"value":\#(event)}"#, #"{"unknown":1,"offset":1,"value":\#(event)}"#] {
                try Array(wrapper.utf8).withUnsafeBytes { bytes in
                    let line = try RecordingLine.parse(bytes)
                    #expect(line.offset == 1)
                    #expect(try decoder.decode(line.value).timestampMilliseconds == 1_773_000_600_500)
                }
            }
        }
    }

    @Test func theBytesOfTheEventAreThoseOfTheLine() throws {
        let text = Array(#"{"offset":1,"value":{"type":"status"}}"#.utf8)
        try text.withUnsafeBytes { bytes in
            let line = try RecordingLine.parse(bytes)
            #expect(line.value.baseAddress == bytes.baseAddress.map { $0 + 20 })
        }
    }
}
