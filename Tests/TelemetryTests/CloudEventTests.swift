import Testing

@testable import Telemetry

@Suite("Events as CloudEvents") struct CloudEventTests {
    private let structured = [("content-type", "application/cloudevents+json; charset=UTF-8")]
    private let status = #"{"type":"status","activityId":"order-4711","status":"late"}"#

    private func cloudEvent(_ more: String, time: String? = "2026-03-08T20:10:00.5Z") -> [UInt8] {
        let time = time.map { #","time":"\#($0)""# } ?? ""
        return Array(
            #"{"specversion":"1.0","id":"a-1","source":"/dispatch","type":"com.example.order"\#(time),\#(more)}"#.utf8)
    }

    // Structured

    @Test func theEventIsTheData() throws {
        for headers in [structured, [], [("content-type", "application/json")]] {
            let found = try decoded(cloudEvent(#""data": \#(position())"#), headers).get()
            let bare = try plain(position())
            #expect(found.identifier == bare.identifier && found.position == bare.position)
            // What the event says itself counts.
            #expect(found.timestampMilliseconds == 1_773_000_600_500)
        }
    }

    @Test func itsTimeAndIdStandForThoseThatTheEventLacks() throws {
        let found = try decoded(cloudEvent(#""data":\#(status)"#), structured).get()
        #expect(found.timestampMilliseconds == 1_773_000_600_500)
        #expect(found.eventIdentifierHash != 0)
        let named = try decoded(
            cloudEvent(#""data":{"type":"status","status":"x","activityId":"a","timestamp":1,"eventId":"own"}"#)
        ).get()
        #expect(named.timestampMilliseconds == 1_000)
        #expect(
            try named.eventIdentifierHash
                == plain(event("status", #""status":"x","eventId":"own""#)).eventIdentifierHash)
    }

    @Test func anEscapedTimeIsReadAsWell() throws {
        // As .NET writes a plus.
        let found = try decoded(cloudEvent(#""data":\#(status)"#, time: #"2026-03-08T21:10:00.5\u002B01:00"#)).get()
        #expect(found.timestampMilliseconds == 1_773_000_600_500)
    }

    @Test func dataMayBeInBase64() throws {
        var text = ByteBuffer()
        Array(position().utf8).withUnsafeBytes { Base64.append($0, to: &text) }
        let found = try decoded(cloudEvent(#""data_base64":"\#(text.text)""#), structured).get()
        #expect(String(decoding: found.identifier, as: UTF8.self) == "order-4711")
        #expect(refusal(cloudEvent(#""data_base64":"Zm9""#))?.reason == .outOfRange("data_base64"))
        #expect(refusal(cloudEvent(#""data_base64":"Zm9v","datacontenttype":"text/xml""#))?.reason == .notJSON)
    }

    @Test func theNextEventInBase64MayBeLonger() throws {
        var decoder = EventDecoder(apps: [])
        for id in ["a", String(repeating: "b", count: 100), "c"] {
            var text = ByteBuffer()
            let event = #"{"type":"status","status":"x","timestamp":1,"activityId":"\#(id)"}"#
            Array(event.utf8).withUnsafeBytes { Base64.append($0, to: &text) }
            try cloudEvent(#""data_base64":"\#(text.text)""#).withUnsafeBytes { bytes in
                let event = try decoder.decode(bytes, headers: .none)
                #expect(event.identifier.elementsEqual(id.utf8))
            }
        }
    }

    @Test func theWrapperCountsNeitherInTheSizeNorInTheDepth() {
        let deep = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
        #expect(refusal(Array(position(#","x":\#(deep)"#).utf8)) == nil)
        for headers in [structured, []] {
            #expect(refusal(cloudEvent(#""data":\#(position(#","x":\#(deep)"#))"#), headers) == nil)
            #expect(refusal(cloudEvent(#""data":\#(position(#","x":[\#(deep)]"#))"#), headers)?.reason == .notJSON)
        }
        let long = String(repeating: "x", count: 65_000)
        for headers in [structured, []] {
            #expect(
                refusal(cloudEvent(#""comment":"\#(long)","data":\#(position(#","x":"\#(long)""#))"#), headers) == nil)
        }
        #expect(
            refusal(cloudEvent(#""a":"\#(long)","b":"\#(long)","c":"\#(long)","data":\#(position())"#), structured)?
                .reason
                == .tooLarge)
    }

    @Test func aFaultInTheDataIsThatOfTheEvent() throws {
        for headers in [structured, []] {
            let fault = try #require(refusal(cloudEvent(#""data":\#(position(latitude: "97"))"#), headers))
            #expect(fault.reason == .outOfRange("latitude"))
            #expect(fault.explanation.hasPrefix("In \"data\" of the CloudEvent: "))
        }
        #expect(refusal(cloudEvent(#""data":"text""#))?.reason == .notAnObject)
        #expect(
            refusal(cloudEvent(#""data":"<a/>","datacontenttype":"application/xml""#), structured)?.reason == .notJSON)
        #expect(refusal(cloudEvent(#""data":\#(status)"#, time: nil))?.reason == .missingField("timestamp"))
        let late = try #require(refusal(cloudEvent(#""data":\#(status)"#, time: "yesterday"), structured))
        #expect(late.reason == .badTimestamp && late.explanation.contains("\"time\" of the CloudEvent"))
        // Nobody needs it.
        #expect(refusal(cloudEvent(#""data":\#(position())"#, time: "yesterday"), structured) == nil)
    }

    @Test func whatIsCalledACloudEventMustBeOne() {
        #expect(refusal(Array("{".utf8), structured)?.reason == .notJSON)
        #expect(refusal(Array("[]".utf8), structured)?.reason == .notAnObject)
        #expect(refusal(cloudEvent(#""data":null"#), structured)?.reason == .missingField("data"))
        #expect(refusal(Array(position().utf8), structured)?.reason == .missingField("data"))
        // Not called one, it is an event of a type that nobody knows.
        #expect(refusal(cloudEvent(#""x":1"#))?.reason == .unknownType)
    }

    @Test func batchesAndOtherFormatsAreRefusedByName() throws {
        let batch = try #require(refusal(Array("[]".utf8), [("content-type", "application/cloudevents-batch+json")]))
        #expect(batch.reason == .notAnObject && batch.explanation.contains("batch of CloudEvents"))
        let avro = try #require(refusal([2, 4], [("content-type", "application/cloudevents+avro")]))
        #expect(avro.reason == .notJSON && avro.explanation.contains("application/cloudevents+avro"))
    }

    @Test func aPlainEventStaysOneWhateverItsFieldsAreCalled() throws {
        let text = position(#","specversion":"1.0","data":\#(status),"id":"x","time":"2026-01-01T00:00:00Z""#)
        #expect(try plain(text) == plain(position()))
    }

    @Test func aCloudEventMayLieInAFrame() throws {
        let found = try decoded([0, 0, 0, 0, 9] + cloudEvent(#""data":\#(status)"#)).get()
        #expect(found.timestampMilliseconds == 1_773_000_600_500)
    }

    // Binary

    @Test func headersStandForWhatTheEventLacks() throws {
        let headers = [
            ("ce_specversion", "1.0"), ("ce_id", "a-1"), ("ce_source", "/dispatch"),
            ("content-type", "application/json"),
            ("ce_time", "2026-03-08T20:10:00.5Z"),
        ]
        let found = try decoded(Array(status.utf8), headers).get()
        #expect(found.timestampMilliseconds == 1_773_000_600_500)
        // In either mode it is the same event.
        #expect(try found == decoded(cloudEvent(#""data":\#(status)"#)).get())
        let own = position(#","eventId":"own""#)
        #expect(try decoded(Array(own.utf8), headers).get() == plain(own))
        #expect(try decoded(Array(position().utf8), headers).get().eventIdentifierHash == found.eventIdentifierHash)
        // The general way as well.
        let escaped = status.replacing("late", with: #"l\u0061te"#)
        #expect(try decoded(Array(escaped.utf8), headers).get() == found)
    }

    @Test func anIdIsOneTogetherWithItsSource() throws {
        func hash(_ headers: [(String, String)]) throws -> UInt64 {
            try decoded(Array(position().utf8), headers).get().eventIdentifierHash
        }
        let first = try hash([("ce_id", "1"), ("ce_source", "/a")])
        #expect(try first != hash([("ce_id", "1"), ("ce_source", "/b")]))
        #expect(try first == hash([("ce_source", "/a"), ("ce_id", "1")]))
        #expect(try hash([("ce_id", "own")]) == plain(position(#","eventId":"own""#)).eventIdentifierHash)
        #expect(try hash([("ce_id", ""), ("ce_source", "/a")]) == 0)
    }

    @Test func aTimeThatIsNoneMattersWhereItIsNeeded() throws {
        let headers = [("ce_time", "1773000600")]
        let fault = try #require(refusal(Array(status.utf8), headers))
        #expect(fault.reason == .badTimestamp && fault.explanation.contains("header ce_time"))
        #expect(refusal(Array(position().utf8), headers) == nil)
        #expect(refusal(Array(status.utf8))?.reason == .missingField("timestamp"))
    }
}
