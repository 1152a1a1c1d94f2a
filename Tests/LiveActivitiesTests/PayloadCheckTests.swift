import LiveActivities
import Telemetry
import Testing

@Suite("Pushes that a phone would drop in silence are refused by name")
struct PayloadCheckTests {
    @Test(
        "a start shows nothing without a title or a body",
        arguments: [
            nil, Alert(title: nil, body: nil, sound: "default"),
            Alert(title: .string(""), body: .string(""), sound: nil),
            Alert(title: .null, body: json(#"{"loc-key":""}"#), sound: nil),
        ] as [Alert?])
    func startWithoutAlert(alert: Alert?) {
        #expect(throws: PayloadFault.missingAlert) { try PayloadWriter.text(.start().with { $0.alert = alert }) }
    }

    @Test("a start names the type of its attributes", arguments: [nil, ""] as [String?])
    func startWithoutType(type: String?) {
        #expect(throws: PayloadFault.missingAttributesType) {
            try PayloadWriter.text(.start().with { $0.attributesType = type })
        }
    }

    @Test("a broadcast starts nothing")
    func startByBroadcast() {
        #expect(throws: PayloadFault.startByBroadcast) {
            try PayloadWriter.text(.start().with { $0.medium = .broadcast })
        }
    }

    @Test(
        "a channel to follow is base64 with its padding",
        arguments: ["", "abc", "ab=c", "a b=", "====", "JxR5mB0yQ7-0k3ZVw0o8TA=="])
    func badChannel(channel: String) {
        #expect(throws: PayloadFault.badChannel) {
            try PayloadWriter.text(.start().with { $0.followedChannel = channel })
        }
    }

    @Test("milliseconds are refused wherever seconds are due; the second before is not")
    func milliseconds() throws {
        let limit: Int64 = 100_000_000_000
        #expect(throws: PayloadFault.looksLikeMilliseconds(field: "timestamp")) {
            try PayloadWriter.text(.update().with { $0.timestampSeconds = 1_795_953_600_000 })
        }
        #expect(throws: PayloadFault.looksLikeMilliseconds(field: "stale-date")) {
            try PayloadWriter.text(.update().with { $0.staleDateSeconds = limit })
        }
        #expect(throws: PayloadFault.looksLikeMilliseconds(field: "dismissal-date")) {
            try PayloadWriter.text(.end().with { $0.dismissal = .at(milliseconds: limit * 1_000) })
        }
        let latest = Push.update().with { $0.staleDateSeconds = limit - 1 }
        #expect(try PayloadWriter.text(latest).contains(#""stale-date":99999999999"#))
    }

    @Test("a timestamp of no time at all is refused, a dismissal long past is not")
    func noTime() throws {
        #expect(throws: PayloadFault.badTime(field: "timestamp")) {
            try PayloadWriter.text(.update().with { $0.timestampSeconds = 0 })
        }
        let text = try PayloadWriter.text(.end().with { $0.dismissal = .at(milliseconds: 0) })
        #expect(text.contains(#""dismissal-date":0,"#))
    }

    @Test("a relevance score that JSON cannot write is refused", arguments: [Double.nan, .infinity])
    func relevance(score: Double) {
        #expect(throws: PayloadFault.notFinite(field: "relevance-score")) {
            try PayloadWriter.text(.update().with { $0.relevanceScore = score })
        }
    }

    @Test(
        "an alert's text is text, or the localised form",
        arguments: [
            "5", "[]", "{}", #"{"loc-key":1}"#, #"{"loc-key":"K","loc-args":"a"}"#, #"{"loc-key":"K","loc-args":[1]}"#,
        ])
    func badAlert(title: String) {
        #expect(throws: PayloadFault.badAlert(field: "title")) {
            try PayloadWriter.text(.update().with { $0.alert = Alert(title: json(title), body: nil, sound: nil) })
        }
        #expect(throws: PayloadFault.badAlert(field: "body")) {
            try PayloadWriter.text(.update().with { $0.alert = Alert(title: nil, body: json(title), sound: nil) })
        }
    }

    @Test("a state that lacks what the phone needs does not leave, not even for what pacing was to write")
    func contentState() throws {
        let type = try ActivityTypeSettings(
            contentStateSchema: json(#"{"type":"object","required":["status","latitude"]}"#),
            suppliedFields: [FieldPath("latitude")])
        #expect(type.fault(inMerged: state(#"{"status":"near"}"#)) == nil)
        let fault = #expect(throws: PayloadFault.self) { try PayloadWriter.text(.update(), type) }
        #expect(
            fault
                == .contentStateMismatch(path: "latitude", explanation: "latitude is required, but absent"))
        #expect(try PayloadWriter.text(.update(#"{"status":"near","latitude":52.5}"#), type).contains("52.5"))
    }

    @Test("attributes that the phone cannot decode do not leave with a start")
    func attributes() throws {
        let type = try ActivityTypeSettings(
            attributesSchema: json(#"{"type":"object","properties":{"orderId":{"type":"integer"}}}"#))
        let fault = #expect(throws: PayloadFault.self) { try PayloadWriter.text(.start(), type) }
        #expect(fault?.name == "attributes_mismatch")
        #expect(try PayloadWriter.text(.update().with { $0.attributes = object(#"{"orderId":"A17"}"#) }, type) != "")
    }

    @Test("each refusal has a name of its own and a sentence")
    func names() {
        let faults: [PayloadFault] = [
            .tooLarge(bytes: 1, limitBytes: 1), .tooLargeForPhone(bytes: 1, limitBytes: 1), .missingAlert,
            .missingAttributesType, .badAlert(field: "title"), .badChannel, .looksLikeMilliseconds(field: "f"),
            .badTime(field: "f"), .notFinite(field: "f"), .badDate(path: "p", explanation: "p is a date"),
            .contentStateMismatch(path: "p", explanation: "p is required"),
            .attributesMismatch(path: "p", explanation: "p is required"), .startByBroadcast,
        ]
        #expect(Set(faults.map(\.name)).count == faults.count)
        for fault in faults { #expect(fault.explanation.count > 8) }
    }
}
