import Telemetry
import Testing

@testable import FaultSimulation

@Suite("The plain truth about an activity")
struct TruthTests {
    var truth = Truth()

    private mutating func apply(_ kind: Event.Kind, _ detail: EventDetail, now: Int64 = 0, life: Int64? = nil) {
        _ = truth.apply(
            SimulatedEvent(kind: kind, name: 0, timestampMilliseconds: now, identifierHash: 0, detail: detail),
            nowMilliseconds: now, life: life, subjectPosition: nil, subject: nil)
    }

    private func content(_ status: String) -> JSONObject { JSONObject(("status", .string(status))) }

    @Test("the newest content counts, and an end is the end")
    mutating func ends() {
        apply(.activityStarted, EventDetail(contentState: content("a"), target: .updateToken(PushToken(number: 1))))
        apply(.status, EventDetail(contentState: content("b")))
        apply(.activityEnded, EventDetail(contentState: content("c")))
        apply(.status, EventDetail(contentState: content("d")))
        #expect(truth.phase == .ended)
        #expect(truth.content[FieldPath("status")] == .string("c"))
    }

    @Test("only a start with a new target begins another life")
    mutating func lives() {
        let start = EventDetail(contentState: content("a"), target: .updateToken(PushToken(number: 1)))
        apply(.activityStarted, start)
        apply(.activityEnded, EventDetail())
        apply(.activityStarted, start)
        #expect(truth.life == 1)
        apply(.activityStarted, EventDetail(target: .updateToken(PushToken(number: 2))))
        #expect(truth.life == 2)
        #expect(truth.content.isEmpty)
        #expect(truth.phase == .alive)
    }

    @Test("a life is over when its time is")
    mutating func lifeLimit() {
        apply(
            .activityStarted, EventDetail(target: .updateToken(PushToken(number: 1))), now: 1_000, life: 10_000)
        truth.passTime(nowMilliseconds: 10_999)
        #expect(truth.phase == .alive)
        truth.passTime(nowMilliseconds: 11_000)
        #expect(truth.phase == .ended)
    }

    @Test("an alert counts until it is told; the newest wins")
    mutating func alerts() {
        apply(.activityStarted, EventDetail(target: .updateToken(PushToken(number: 1))))
        apply(.status, EventDetail(alert: Alert(number: 1)))
        apply(.status, EventDetail(alert: Alert(number: 2)))
        truth.alerted(Alert(number: 1))
        #expect(truth.alert == Alert(number: 2))
        truth.alerted(Alert(number: 2))
        #expect(truth.alert == nil)
    }
}
