import Telemetry
import Testing

@testable import PushSimulator

@Suite("Final states are merged from what may be believed")
struct FinalStateBuilderTests {
    private func states(_ lines: String..., rules: SanityRules = SanityRules()) -> [String: FinalState] {
        var builder = FinalStateBuilder(rules: rules)
        var decoder = EventDecoder(apps: [])
        for line in lines {
            Array("{\(line)}".utf8).withUnsafeBytes { bytes in
                let event = try! decoder.decode(bytes)
                builder.apply(event, nowMilliseconds: 1_795_953_600_000)
            }
        }
        return builder.finalStates
    }

    private func position(_ second: Int, _ latitude: Double, _ more: String = "") -> String {
        #""type":"position","activityId":"A","timestamp":\#(1_795_953_600 + second),"latitude":\#(latitude),"longitude":11\#(more)"#
    }

    @Test("A lone far position is left out, two that agree are taken")
    func implausible() {
        #expect(states(position(0, 48), position(5, 49), position(10, 48.0001))["A"]?.position?.latitude == 48.0001)
        #expect(states(position(0, 48), position(5, 49))["A"]?.position?.latitude == 48)
        #expect(states(position(0, 48), position(5, 49), position(10, 49.0001))["A"]?.position?.latitude == 49.0001)
        // After two minutes anything is possible.
        #expect(states(position(-121, 48), position(0, 49))["A"]?.position?.latitude == 49)
    }

    @Test("(0, 0), a poor accuracy, a wrong clock and what is older say nothing, not even in their content-state")
    func unusable() {
        let state = #","contentState":{"etaTimestamp":1}"#
        let null = #""type":"position","activityId":"A","timestamp":1795953601,"latitude":0,"longitude":0"#
        for wrong in [
            null + state, position(1, 48.0001, #","accuracy":201"# + state), position(61, 48.0001, state),
            position(-3_601, 48.0001, state), position(-1, 48.0001, state),
        ] {
            let final = states(position(0, 48), wrong)["A"]
            #expect(final?.position?.latitude == 48)
            #expect(final?.contentState.isEmpty == true)
        }
    }

    @Test("Followers share a subject's events from their start on, and its newest place")
    func followers() {
        let at = #""timestamp":1795953600"#
        let place = #""type":"position","subjectId":"S",\#(at),"latitude":48,"longitude":11,"contentState":{"x":1}"#
        let start =
            #""type":"activity.started","activityId":"A",\#(at),"follows":"S","token":"\#(String(repeating: "ab", count: 32))","contentState":{"status":"new"}"#
        let status = #""type":"status","subjectId":"S",\#(at),"status":"near""#
        let end = #""type":"activity.ended","subjectId":"S",\#(at),"dismissalDate":"immediate""#
        let final = states(place, start, status, end)["A"]
        #expect(final?.position?.latitude == 48)
        #expect(final?.contentState == ContentState(GoodJournal.object(#"{"status":"near"}"#)))
        #expect(final?.shownAtBegin == ContentState(GoodJournal.object(#"{"status":"new"}"#)))
        #expect(final?.ending == .immediate)
        #expect(final?.hasTarget == true)
    }

    @Test("A token or an end begins nothing; an early token waits for its activity; an id that comes twice counts once")
    func beginnings() {
        let at = #""timestamp":1795953600"#
        let token = #""type":"token","activityId":"A",\#(at),"token":"\#(String(repeating: "ab", count: 32))""#
        #expect(states(token).isEmpty)
        #expect(states(#""type":"activity.ended","activityId":"A",\#(at)"#).isEmpty)
        #expect(states(token, position(0, 48))["A"]?.hasTarget == true)
        func status(_ value: String) -> String {
            #""type":"status","activityId":"A",\#(at),"eventId":"e","status":"\#(value)""#
        }
        #expect(states(status("one"), status("two"))["A"]?.contentState[FieldPath("status")]?.asString == "one")
    }
}
