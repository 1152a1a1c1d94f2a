import LiveActivities
import Pacing
import Telemetry
import Testing

@testable import Flow

private let epoch: Int64 = 1_800_000_000_000

/// A lane with one activity on a phone and one link, driven by hand.
private final class Drive {
    let lane: Lane
    private let name = Array("ride-1".utf8)
    private var offset: Int64 = -1
    /// Pacing's clock and the real one may part.
    var pacingMilliseconds: Int64 = 0
    var realMilliseconds: Int64 = 0
    private(set) var dispatches: [Dispatch] = []

    var moment: Moment {
        Moment(pacing: Instant(milliseconds: epoch + pacingMilliseconds), realMilliseconds: realMilliseconds)
    }

    init() {
        lane = Lane(settings: LaneSettings(shard: ShardSettings(), types: ActivityTypes()))
        lane.setStreams(4, link: lane.addLink(pool: 0))
        apply(
            .activityStarted,
            EventDetail(
                attributesType: "Ride",
                target: .updateToken(PushToken(bytes: [UInt8](repeating: 1, count: 32)))))
    }

    func apply(_ kind: Event.Kind, _ detail: EventDetail) {
        offset += 1
        name.withUnsafeBytes { name in
            let event = Event(
                kind: kind, isForSubject: false, identifier: name, timestampMilliseconds: epoch + pacingMilliseconds,
                eventIdentifierHash: 0, position: .none, detail: detail)
            _ = lane.apply(event, partition: 0, offset: offset, at: moment)
        }
        leave()
    }

    func status(_ status: String) {
        apply(
            .status,
            EventDetail(
                contentState: JSONObject(uniqueMembers: [JSONObject.Member(name: "status", value: .string(status))])))
    }

    func pass(pacing: Int64 = 0, real: Int64) {
        pacingMilliseconds += pacing
        realMilliseconds += real
        lane.fire(at: moment)
        leave()
    }

    func answer(_ status: Int, _ reason: APNsReason? = nil) -> Completion? {
        defer { leave() }
        return lane.complete(
            dispatches.last!.identifier,
            .answered(ProviderAnswer(status: status, reason: reason), providerTokenAgeSeconds: 0), at: moment)
    }

    private func leave() {
        var body = ByteBuffer()
        while let dispatch = lane.next(at: moment, body: &body) { dispatches.append(dispatch) }
    }
}

@Suite("A lane and its two clocks")
struct LaneTimingTests {
    @Test("an overdue probe asks for no wake-up while there is nothing to probe with")
    func noBusyWaitForAProbe() {
        let drive = Drive()
        drive.status("near")
        _ = drive.answer(403, .invalidProviderToken)
        #expect(drive.lane.openBreakers == 1)
        // The probe itself is refused for good, and nothing else is there to send.
        drive.pass(real: 60_000)
        #expect(drive.dispatches.count == 2)
        _ = drive.answer(400, .badMessageId)
        drive.pass(real: 60_000)
        #expect(drive.lane.openBreakers == 1)
        #expect(drive.lane.nextRealDueMilliseconds(after: drive.realMilliseconds) == nil)
        // With something to send the probe leaves at once.
        drive.status("arrived")
        #expect(drive.dispatches.count == 3)
    }

    @Test("what a throttled target is to be told waits on the real clock, however fast pacing's runs")
    func throttleHoldsNewer() throws {
        let drive = Drive()
        drive.status("near")
        let fate = try #require(drive.answer(429, .tooManyRequests)?.fate)
        guard case .held(let milliseconds) = fate else {
            Issue.record("\(fate)")
            return
        }
        drive.status("arrived")
        drive.pass(pacing: 3_600_000, real: milliseconds - 1)
        #expect(drive.dispatches.count == 1)
        #expect(drive.lane.nextRealDueMilliseconds(after: drive.realMilliseconds) == milliseconds)
        drive.pass(real: 1)
        #expect(drive.dispatches.count == 2)
        let newest = try #require(drive.dispatches.last?.update)
        #expect(newest.contentState[FieldPath("status")] == .string("arrived"))
        #expect(newest.sequence == 2)
        _ = drive.answer(200)
        // The hold is over for what comes after as well.
        drive.status("near")
        #expect(drive.dispatches.count == 3)
    }

    @Test("after a 5xx newer content goes at once, and the old content never again")
    func serverErrorHoldsOldContentAlone() {
        let drive = Drive()
        drive.status("near")
        _ = drive.answer(503, .serviceUnavailable)
        drive.status("arrived")
        #expect(drive.dispatches.map(\.update.sequence) == [1, 2])
        _ = drive.answer(200)
        drive.pass(real: 3_600_000)
        #expect(drive.dispatches.count == 2)
    }
}
