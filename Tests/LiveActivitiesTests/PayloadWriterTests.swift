import LiveActivities
import Telemetry
import Testing

@Suite("Payloads, byte for byte")
struct PayloadWriterTests {
    @Test("an update carries the complete state and when it goes stale")
    func update() throws {
        let push = Push.update(#"{"status":"near","etaTimestamp":1795954020}"#)
            .with { $0.staleDateSeconds = 1_795_954_500 }
        #expect(
            try PayloadWriter.text(push)
                == #"{"aps":{"timestamp":1795953600,"event":"update","stale-date":1795954500,"content-state":{"status":"near","etaTimestamp":1795954020}}}"#
        )
    }

    @Test("text beyond ASCII goes as UTF-8: 87 characters are 90 bytes")
    func countsBytes() throws {
        var buffer = ByteBuffer()
        let info = try PayloadWriter.write(.update(#"{"status":"Zürich ✓"}"#), .plain, into: &buffer)
        #expect(
            buffer.text
                == #"{"aps":{"timestamp":1795953600,"event":"update","content-state":{"status":"Zürich ✓"}}}"#)
        #expect(buffer.text.count == 87)
        #expect(info.bytes == 90)
        #expect(buffer.count == 90)
    }

    @Test("a start that follows a channel says so, and asks for no token")
    func startWithChannel() throws {
        let push = Push.start(#"{"status":"picked up","etaTimestamp":1795955400}"#)
            .with { $0.followedChannel = "JxR5mB0yQ7+0k3ZVw0o8TA==" }
        #expect(
            try PayloadWriter.text(push)
                == #"{"aps":{"timestamp":1795953600,"event":"start","attributes-type":"CourierAttributes","attributes":{"orderId":"A17"},"#
                + #""content-state":{"status":"picked up","etaTimestamp":1795955400},"input-push-channel":"JxR5mB0yQ7+0k3ZVw0o8TA==","#
                + #""alert":{"title":"On its way","body":"Your order left the shop","sound":"default"}}}"#)
    }

    @Test("any other start asks for an update token, with the number 1")
    func startWithToken() throws {
        let push = Push.start().with {
            $0.staleDateSeconds = 1_795_953_780
            $0.relevanceScore = 75
        }
        #expect(
            try PayloadWriter.text(push)
                == #"{"aps":{"timestamp":1795953600,"event":"start","stale-date":1795953780,"relevance-score":75,"attributes-type":"CourierAttributes","#
                + #""attributes":{"orderId":"A17"},"content-state":{"status":"picked up"},"input-push-token":1,"#
                + #""alert":{"title":"On its way","body":"Your order left the shop","sound":"default"}}}"#)
    }

    @Test("a start without attributes of its own sends an empty object")
    func startWithoutAttributes() throws {
        #expect(try PayloadWriter.text(.start().with { $0.attributes = nil }).contains(#""attributes":{},"#))
    }

    @Test("the activity's id stands among the attributes, whatever the producer wrote there")
    func activityIdentifier() throws {
        let type = try ActivityTypeSettings(activityIdentifierField: FieldPath("waypulse.id"))
        let push = Push.start().with { $0.attributes = object(#"{"orderId":"A17","waypulse":{"id":5}}"#) }
        #expect(
            try PayloadWriter.text(push, type).contains(
                #""attributes":{"orderId":"A17","waypulse":{"id":"A17"}},"#))
    }

    @Test("an end has a dismissal date and never a stale date, though one was given")
    func end() throws {
        let push = Push.end().with {
            $0.staleDateSeconds = 1_795_953_780
            $0.dismissal = .at(milliseconds: 1_795_957_200_999)
            $0.relevanceScore = 0.1
        }
        #expect(
            try PayloadWriter.text(push)
                == #"{"aps":{"timestamp":1795953600,"event":"end","dismissal-date":1795957200,"relevance-score":0.1,"content-state":{"status":"delivered"}}}"#
        )
    }

    @Test("to dismiss at once is to name a time that has passed")
    func immediateDismissal() throws {
        let text = try PayloadWriter.text(.end().with { $0.dismissal = .immediate })
        #expect(text.contains(#""dismissal-date":1795950000,"#))
    }

    @Test("without a dismissal date the system chooses")
    func systemDismissal() throws {
        #expect(
            try PayloadWriter.text(.end())
                == #"{"aps":{"timestamp":1795953600,"event":"end","content-state":{"status":"delivered"}}}"#)
    }

    @Test("a dismissal date is for ends alone")
    func dismissalOnUpdate() throws {
        #expect(
            try PayloadWriter.text(.update().with { $0.dismissal = .immediate })
                == #"{"aps":{"timestamp":1795953600,"event":"update","content-state":{"status":"near"}}}"#)
    }

    @Test("an alert may be localised, and holds the sound inside")
    func localisedAlert() throws {
        let push = Push.update().with {
            $0.alert = Alert(
                title: json(#"{"loc-key":"NEAR","loc-args":["2"]}"#), body: nil, sound: "ding.caf")
        }
        #expect(
            try PayloadWriter.text(push).hasSuffix(
                #","alert":{"title":{"loc-key":"NEAR","loc-args":["2"]},"sound":"ding.caf"}}}"#))
    }

    @Test("an alert with nothing in it is left out of an update")
    func emptyAlert() throws {
        let push = Push.update().with { $0.alert = Alert(title: .string(""), body: nil, sound: nil) }
        #expect(try PayloadWriter.text(push) == PayloadWriter.text(.update()))
    }

    @Test("dates are written as each field's app decodes them")
    func dates() throws {
        let type = try ActivityTypeSettings(
            contentStateDates: [
                DateField(path: FieldPath("eta"), format: .apple), DateField(path: FieldPath("since"), format: .unix),
                DateField(path: FieldPath("stops.at"), format: .iso8601),
            ], attributesDates: [DateField(path: FieldPath("ordered"), format: .apple)])
        let push = Push.start(
            #"{"eta":"2026-11-29T13:00:00+01:00","since":"2026-11-29T12:00:00.25Z","stops":[{"at":1795953600},{"at":null}]}"#
        ).with { $0.attributes = object(#"{"ordered":1735689600}"#) }
        let text = try PayloadWriter.text(push, type)
        #expect(
            text.contains(
                #""content-state":{"eta":817646400,"since":1795953600.25,"stops":[{"at":"2026-11-29T12:00:00Z"},{"at":null}]}"#
            ))
        #expect(text.contains(#""attributes":{"ordered":757382400}"#))
    }

    @Test("what was in the buffer stays, also when the push is refused")
    func appends() throws {
        var buffer = ByteBuffer()
        buffer.append(raw: "before")
        #expect(throws: PayloadFault.missingAlert) {
            try PayloadWriter.write(.start().with { $0.alert = nil }, .plain, into: &buffer)
        }
        #expect(throws: (any Error).self) {
            try PayloadWriter.write(
                .update(#"{"note":"\#(String(repeating: "x", count: 5_000))"}"#), .plain, into: &buffer)
        }
        #expect(buffer.text == "before")
        let info = try PayloadWriter.write(.update(), .plain, into: &buffer)
        #expect(buffer.count == "before".utf8.count + info.bytes)
    }
}
