import Pacing
import Telemetry
import Testing

@testable import Streams

@Suite("A feedback event")
struct FeedbackEventTests {
    static let token = PushToken(bytes: [UInt8](repeating: 0xAB, count: 32))

    static func event(
        _ kind: FeedbackEvent.Kind, _ change: (inout FeedbackEvent) -> Void = { _ in }
    ) -> FeedbackEvent {
        var event = FeedbackEvent(
            kind, activityIdentifier: "order-1", app: "courier", timestampMilliseconds: 1_773_000_606_123)
        event.event = "update"
        event.sequence = 4
        event.apnsIdentifier = APNsIdentifier(high: 0x0123_4567_89AB_5DEF, low: 0x8123_4567_89AB_CDEF)
        event.target = .updateToken(token)
        event.registeredAtMilliseconds = 1_773_000_600_000
        change(&event)
        return event
    }

    private func text(_ event: FeedbackEvent) -> String {
        var buffer = ByteBuffer()
        buffer.append(event)
        return buffer.text
    }

    private func identifier(_ event: FeedbackEvent) -> Substring { text(event).dropFirst(7).prefix(36) }

    @Test("has no token in it, and the hash that `printf ab…ab | sha256sum` gives")
    func whole() {
        let event = Self.event(.tokenGone) {
            ($0.status, $0.reason, $0.goneAtMilliseconds) = (410, "Unregistered", 1_773_000_606_100)
        }
        #expect(
            text(event)
                == #"{"id":"\#(identifier(event))","type":"token.gone","activityId":"order-1","app":"courier","timestamp":1773000606.123,"#
                + #""event":"update","sequence":4,"apnsId":"01234567-89ab-5def-8123-456789abcdef","status":410,"reason":"Unregistered","#
                + #""tokenKind":"update","tokenSha256":"271a413bd339c5709fdceaec41f14f11e9fbfb5042d72d331c65f32b284cd09a","#
                + #""registeredAt":1773000600,"goneAt":1773000606.1}"#)
    }

    @Test("has an id of version 8, which is the same for what is the same")
    func identifiers() {
        let first = Self.event(.tokenGone)
        #expect(Array(identifier(first))[14] == "8" && "89ab".contains(Array(identifier(first))[19]))
        // Found out twice, by another push and at another time.
        let again = Self.event(.tokenGone) {
            ($0.sequence, $0.timestampMilliseconds, $0.goneAtMilliseconds) = (70, 1_773_000_900_000, 5)
        }
        #expect(identifier(first) == identifier(again))
        // The app reported it anew, and it is gone once more.
        #expect(
            identifier(first) != identifier(Self.event(.tokenGone) { $0.registeredAtMilliseconds = 1_773_000_700_000 }))
        let all = FeedbackEvent.Kind.allCases.map { identifier(Self.event($0)) }
        #expect(Set(all).count == all.count)
        #expect(
            identifier(Self.event(.pushRefused))
                != identifier(Self.event(.pushRefused) { $0.apnsIdentifier = APNsIdentifier(high: 1, low: 2) }))
        #expect(identifier(Self.event(.activityEnded)) == identifier(Self.event(.activityEnded) { $0.sequence = 9 }))
        #expect(
            identifier(Self.event(.activityEnded)) != identifier(Self.event(.activityEnded) { $0.target = nil }))
    }

    @Test("escapes ids, and leaves out what is not known")
    func escapes() {
        var event = FeedbackEvent(
            .activityEnded, activityIdentifier: "a\"b\n", app: "c", timestampMilliseconds: 1_000)
        (event.userIdentifier, event.outcome, event.reason) = ("u", .unsendable, "no_target")
        #expect(
            text(event).hasSuffix(
                #""activityId":"a\"b\n","userId":"u","app":"c","timestamp":1,"reason":"no_target","outcome":"unsendable"}"#
            ))
    }
}
