import Telemetry
import Testing

@Suite struct EventContentTests {
    @Test func aStatusNeedsSomethingToSay() {
        #expect(reason(event("status", "")) == "missing_field:status")
        #expect(reason(event("status", #""status":null,"alert":null"#)) == "missing_field:status")
        for some in [#""status":"x""#, #""contentState":{}"#, #""alert":{"title":"x"}"#, #""relevanceScore":50"#] {
            #expect(reason(event("status", some)) == nil, "\(some)")
        }
    }

    @Test(arguments: [
        (#""status":5"#, "wrong_type:status"), (#""contentState":[]"#, "wrong_type:contentState"),
        (#""contentState":"x""#, "wrong_type:contentState"), (#""alert":"x""#, "wrong_type:alert"),
        (#""relevanceScore":"1""#, "wrong_type:relevanceScore"), (#""alert":{}"#, "missing_field:alert.title"),
        (#""alert":{"title":null}"#, "missing_field:alert.title"), (#""alert":{"title":5}"#, "wrong_type:alert.title"),
        (#""alert":{"title":"x","body":[]}"#, "wrong_type:alert.body"),
        (#""alert":{"title":"x","sound":1}"#, "wrong_type:alert.sound"),
        (#""alert":{"title":{}}"#, "missing_field:alert.title.loc-key"),
        (#""alert":{"title":{"loc-key":7}}"#, "wrong_type:alert.title.loc-key"),
        (#""alert":{"title":{"loc-key":"K","loc-args":"x"}}"#, "wrong_type:alert.title.loc-args"),
        (#""alert":{"title":{"loc-key":"K","loc-args":["x",1]}}"#, "wrong_type:alert.title.loc-args"),
    ])
    func eachFieldOfAStatusIsTyped(fields: String, expected: String) {
        #expect(reason(event("status", fields)) == expected)
    }

    @Test func theShorthandWinsOverTheContentState() throws {
        let both = try detail(event("status", #""status":"arrived","contentState":{"status":"near","eta":4}"#))
        #expect(both.contentState == (try object(#"{"status":"arrived","eta":4}"#)))
        let alone = try detail(event("status", #""status":"arrived""#))
        #expect(alone.contentState == (try object(#"{"status":"arrived"}"#)))
        let neither = try detail(event("status", #""relevanceScore":75.5"#))
        #expect(neither.contentState == nil && neither.relevanceScore == 75.5)
    }

    @Test func nullsInsideTheContentStateStay() throws {
        let detail = try detail(event("status", #""contentState":{"driver":null,"stop":{"name":null}}"#))
        #expect(detail.contentState == (try object(#"{"driver":null,"stop":{"name":null}}"#)))
    }

    @Test func anAlertMayBeLocalised() throws {
        let text =
            #""alert":{"title":{"loc-key":"ARRIVED","loc-args":["Jo","3"]},"body":"Come down","sound":"bell.caf"}"#
        let alert = try #require(try detail(event("status", text)).alert)
        #expect(alert.title == (try json(#"{"loc-key":"ARRIVED","loc-args":["Jo","3"]}"#)))
        #expect(alert.body == .string("Come down") && alert.sound == "bell.caf")
    }

    @Test func anEndSaysWhenItLeavesTheScreen() throws {
        func dismissal(_ date: String) throws -> Dismissal? {
            try detail(event("activity.ended", "\"dismissalDate\":\(date)")).dismissal
        }
        #expect(try dismissal("1773004200.25") == .at(milliseconds: 1_773_004_200_250))
        #expect(try dismissal("\"2026-03-08T20:10:00Z\"") == .at(milliseconds: 1_773_000_600_000))
        #expect(try dismissal("\"immediate\"") == .immediate)
        #expect(try dismissal("null") == nil)
        #expect(reason(event("activity.ended", #""dismissalDate":1773004200000"#)) == "bad_timestamp")
        #expect(reason(event("activity.ended", #""dismissalDate":"Immediate""#)) == "bad_timestamp")
        #expect(reason(event("activity.ended", #""dismissalDate":true"#)) == "wrong_type:dismissalDate")
    }

    @Test func anEndMayCarryTheLastWord() throws {
        let detail = try detail(
            event("activity.ended", #""contentState":{"status":"delivered"},"alert":{"body":"Enjoy"}"#))
        #expect(detail.contentState == (try object(#"{"status":"delivered"}"#)))
        #expect(detail.alert == Alert(title: nil, body: .string("Enjoy"), sound: nil))
        #expect(reason(event("activity.ended", #""contentState":7"#)) == "wrong_type:contentState")
    }
}
