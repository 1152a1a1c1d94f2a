import Telemetry
import Testing

@Suite struct EventDecoderTests {
    @Test func aPositionCarriesWhereWhenAndWho() throws {
        let text = position(#","accuracy":5,"speed":6.25,"heading":271,"altitude":519.5,"eventId":"e-1""#)
        try withEvent(text) { event in
            #expect(event.kind == .position)
            #expect(!event.isForSubject)
            #expect(String(decoding: event.identifier, as: UTF8.self) == "order-4711")
            #expect(event.timestampMilliseconds == 1_773_000_600_500)
            #expect(event.position.coordinate == Coordinate(latitude: 48.137154, longitude: 11.576124))
            #expect(event.position.accuracyMeters == 5)
            #expect(event.position.speedMetersPerSecond == 6.25)
            #expect(event.position.headingDegrees == 271)
            #expect(event.position.altitudeMeters == 519.5)
            #expect(event.eventIdentifierHash != 0)
            #expect(event.detail == nil)
        }
    }

    @Test func aPositionWithContentStateKeepsItAsAPatch() throws {
        let detail = try detail(position(#","contentState":{"etaTimestamp":1773000900,"note":null}"#))
        #expect(detail.contentState == (try object(#"{"etaTimestamp":1773000900,"note":null}"#)))
    }

    @Test func theFiveTypesAreTheFive() throws {
        #expect(try withEvent(event("activity.started", ""), { $0.kind }) == .activityStarted)
        #expect(try withEvent(position(), { $0.kind }) == .position)
        #expect(try withEvent(event("status", #""status":"arrived""#), { $0.kind }) == .status)
        let token = String(repeating: "ab", count: 32)
        #expect(try withEvent(event("token", #""token":"\#(token)""#), { $0.kind }) == .token)
        #expect(try withEvent(event("activity.ended", ""), { $0.kind }) == .activityEnded)
        for kind in [Event.Kind.activityStarted, .position, .status, .token, .activityEnded] {
            #expect(Event.Kind(name: kind.name) == kind)
        }
    }

    @Test(arguments: [
        (#"{"activityId":"a","timestamp":1}"#, "missing_field:type"),
        (#"{"type":null,"activityId":"a","timestamp":1}"#, "missing_field:type"),
        (#"{"type":7,"activityId":"a","timestamp":1}"#, "wrong_type:type"),
        (#"{"type":"Position","activityId":"a","timestamp":1}"#, "unknown_type"),
        (#"{"type":"","activityId":"a","timestamp":1}"#, "unknown_type"),
        (#"{"type":"position","timestamp":1,"latitude":1,"longitude":1}"#, "missing_field:activityId"),
        (
            #"{"type":"position","activityId":null,"timestamp":1,"latitude":1,"longitude":1}"#,
            "missing_field:activityId"
        ),
        (#"{"type":"position","activityId":"","timestamp":1,"latitude":1,"longitude":1}"#, "out_of_range:activityId"),
        (#"{"type":"position","subjectId":"","timestamp":1,"latitude":1,"longitude":1}"#, "out_of_range:subjectId"),
        (#"{"type":"position","activityId":4711,"timestamp":1,"latitude":1,"longitude":1}"#, "wrong_type:activityId"),
        (#"{"type":"position","activityId":"a","subjectId":"b","timestamp":1}"#, "too_many_targets"),
        (#"{"type":"position","activityId":"a","latitude":1,"longitude":1}"#, "missing_field:timestamp"),
        (#"{"type":"position","activityId":"a","timestamp":1,"longitude":1}"#, "missing_field:latitude"),
        (#"{"type":"position","activityId":"a","timestamp":1,"latitude":1}"#, "missing_field:longitude"),
        (
            #"{"type":"position","activityId":"a","timestamp":1,"latitude":null,"longitude":1}"#,
            "missing_field:latitude"
        ),
    ])
    func eachCommonFieldIsAskedFor(text: String, expected: String) {
        #expect(reason(text) == expected)
    }

    @Test func oneIdBesideAnAbsentOneIsOne() throws {
        let text =
            #"{"type":"position","activityId":null,"subjectId":"bus-9","timestamp":1,"latitude":0,"longitude":0}"#
        try withEvent(text) { event in
            #expect(event.isForSubject)
            #expect(String(decoding: event.identifier, as: UTF8.self) == "bus-9")
        }
    }

    @Test func anIdHas128BytesAtMostAndBytesAreNotCharacters() {
        func started(_ id: String) -> String { #"{"type":"activity.started","activityId":"\#(id)","timestamp":1}"# }
        #expect(reason(started(String(repeating: "x", count: 128))) == nil)
        #expect(reason(started(String(repeating: "x", count: 129))) == "out_of_range:activityId")
        #expect(reason(started(String(repeating: "ü", count: 64))) == nil)
        #expect(reason(started(String(repeating: "ü", count: 65))) == "out_of_range:activityId")
        // Escapes count as what they stand for.
        #expect(reason(started(String(repeating: #"\u0078"#, count: 128))) == nil)
    }

    @Test func anIdWithEscapesIsTheIdWithout() throws {
        let plain = #"{"type":"status","status":"x","activityId":"a/é😀","timestamp":1,"eventId":"é"}"#
        let escaped =
            #"{"type":"status","status":"x","activityId":"\u0061\/\u00e9\uD83D\ude00","timestamp":1,"eventId":"\u00E9"}"#
        #expect(try withEvent(plain) { Decoded($0) } == (try withEvent(escaped) { Decoded($0) }))
    }

    @Test func anEventIdIsOptionalButNotEndless() throws {
        #expect(try withEvent(position(), { $0.eventIdentifierHash }) == 0)
        #expect(try withEvent(position(#","eventId":null"#), { $0.eventIdentifierHash }) == 0)
        // Else each event of a producer that leaves it empty would be a duplicate of its last.
        #expect(try withEvent(position(#","eventId":"""#), { $0.eventIdentifierHash }) == 0)
        #expect(reason(position(#","eventId":7"#)) == "wrong_type:eventId")
        #expect(reason(position(#","eventId":"\#(String(repeating: "e", count: 128))""#)) == nil)
        #expect(reason(position(#","eventId":"\#(String(repeating: "e", count: 129))""#)) == "out_of_range:eventId")
    }

    @Test func coordinatesOffTheEarthAreRefused() {
        for edge in ["90", "-90", "90.0", "9e1", "0", "-0", "0.0"] { #expect(reason(position(latitude: edge)) == nil) }
        for edge in ["180", "-180", "0"] { #expect(reason(position(longitude: edge)) == nil) }
        for bad in ["90.00000000000001", "-90.1", "91", "1e308", "-1e308", "1e19"] {
            #expect(reason(position(latitude: bad)) == "out_of_range:latitude", "\(bad)")
        }
        for bad in ["180.00000000000003", "-181", "1e300"] {
            #expect(reason(position(longitude: bad)) == "out_of_range:longitude", "\(bad)")
        }
    }

    @Test func aZeroIsAValue() throws {
        try withEvent(position(latitude: "0", longitude: "0")) { event in
            #expect(event.position.coordinate == Coordinate(latitude: 0, longitude: 0))
        }
        #expect(try withEvent(position(#","accuracy":0,"speed":0,"heading":0"#), { $0.position.headingDegrees }) == 0)
    }

    @Test func whatIsNegativeIsUnknown() throws {
        try withEvent(position(#","accuracy":-1,"speed":-0.5,"heading":-1,"altitude":-3"#)) { event in
            #expect(event.position.accuracyMeters.isNaN)
            #expect(event.position.speedMetersPerSecond.isNaN)
            #expect(event.position.headingDegrees.isNaN)
            #expect(event.position.altitudeMeters == -3)
        }
    }

    @Test func aHeadingGoesOnceAround() {
        #expect(reason(position(#","heading":360"#)) == nil)
        #expect(reason(position(#","heading":360.0001"#)) == "out_of_range:heading")
        #expect(reason(position(#","heading":-720"#)) == nil)
    }

    @Test(arguments: ["latitude", "longitude"])
    func aNumberInQuotesIsNoNumber(field: String) {
        let text = field == "latitude" ? position(latitude: "\"48.1\"") : position(longitude: "\"11.5\"")
        #expect(reason(text) == "wrong_type:\(field)")
    }

    @Test(arguments: ["accuracy", "speed", "heading", "altitude"])
    func optionalFieldsAreTypedToo(field: String) {
        for bad in ["\"5\"", "true", "[5]", "{}"] {
            #expect(reason(position(",\"\(field)\":\(bad)")) == "wrong_type:\(field)")
        }
        #expect(reason(position(",\"\(field)\":null")) == nil)
    }

    @Test func fieldsOfOtherTypesAndUnknownOnesAreIgnored() throws {
        let text = position(
            #","token":7,"alert":"x","vehicle":{"wheels":[1,2,{"x":null}]},"courier":"Ülo \ud83d\ude00""#)
        #expect(try withEvent(text) { $0.detail == nil })
        // But they are JSON like the rest.
        #expect(reason(position(#","vehicle":{"a":1,"a":2}"#)) == "not_json")
        #expect(reason(position(#","vehicle":[1,]"#)) == "not_json")
        #expect(reason(position(#","vehicle":1e999"#)) == "out_of_range:vehicle")
    }

    @Test func anAppMustBeConfigured() throws {
        #expect(
            try withEvent(position(#","app":"riders""#), apps: ["riders", "eaters"]) { $0.detail?.app } == "riders")
        #expect(reason(position(#","app":"drivers""#), apps: ["riders"]) == "unknown_app")
        #expect(reason(position(#","app":"""#), apps: ["riders"]) == "unknown_app")
        #expect(reason(position(#","app":"riders""#), apps: []) == "unknown_app")
        #expect(reason(position(#","app":5"#), apps: ["riders"]) == "wrong_type:app")
        #expect(try withEvent(position(#","app":null"#), apps: ["riders"]) { $0.detail == nil })
    }

    @Test func a64KiBMessageIsTakenAndOneByteMoreIsNot() {
        func padded(to count: Int) -> String {
            let frame = position(#","pad":"""#).utf8.count
            return position(#","pad":"\#(String(repeating: "x", count: count - frame))""#)
        }
        #expect(padded(to: 65_536).utf8.count == 65_536)
        #expect(reason(padded(to: 65_536)) == nil)
        #expect(reason(padded(to: 65_537)) == "too_large")
        #expect(reason(String(repeating: "[", count: 65_536)) == "not_json")
    }

    @Test(arguments: ["[]", "[{}]", "\"position\"", "17", "true", "null", "[1e999]", " 1e999 "])
    func jsonThatIsNoObjectIsSaidToBeNone(text: String) {
        #expect(reason(text) == "not_an_object")
    }

    @Test func theFirstFaultInTheDocumentedOrderIsNamed() {
        // JSON before all, then numbers beyond double, type, ids, timestamp, eventId, app, then the type's own fields.
        #expect(reason(#"{"latitude":1e999"#) == "not_json")
        #expect(reason(#"{"type":"x","latitude":1e999}"#) == "out_of_range:latitude")
        #expect(reason(#"{"type":"x","activityId":1}"#) == "unknown_type")
        #expect(reason(#"{"type":"position","activityId":1,"timestamp":"x"}"#) == "wrong_type:activityId")
        #expect(reason(#"{"type":"position","activityId":"a","timestamp":"x","eventId":1}"#) == "bad_timestamp")
        #expect(
            reason(#"{"type":"position","activityId":"a","timestamp":1,"eventId":1,"app":1}"#) == "wrong_type:eventId")
        #expect(
            reason(#"{"type":"position","activityId":"a","timestamp":1,"app":1,"latitude":"x"}"#) == "wrong_type:app")
    }

    @Test func aNumberBeyondDoubleIsNamedByItsPath() {
        #expect(reason(position(latitude: "1e999")) == "out_of_range:latitude")
        #expect(reason(position(latitude: "-1e999")) == "out_of_range:latitude")
        #expect(
            reason(position(#","contentState":{"route":{"legs":[{"km":1},{"km":100e2000}]}}"#))
                == "out_of_range:contentState.route.legs.1.km")
        // Too small is zero, too precise is rounded; neither is out of range.
        #expect(reason(position(latitude: "1e-999")) == nil)
        #expect(reason(position(latitude: "1.\(String(repeating: "3", count: 400))")) == nil)
    }

    @Test func explanationsSayWhatWasFoundAndWhatToPublish() throws {
        let latitude = try #require(fault(Array(position(latitude: "97.2").utf8)))
        #expect(latitude.explanation.contains("97.2") && latitude.explanation.contains("−90 to 90"))
        let time = try #require(fault(Array(#"{"type":"token","activityId":"a","timestamp":1773000600500}"#.utf8)))
        #expect(time.reason == .badTimestamp && time.explanation.contains("looks like milliseconds"))
        let secret = String(repeating: "ab", count: 31)
        let token = try #require(fault(Array(event("token", "\"token\":\"\(secret)\"").utf8)))
        #expect(token.reason == .badToken && !token.explanation.contains("abab"))
    }
}
