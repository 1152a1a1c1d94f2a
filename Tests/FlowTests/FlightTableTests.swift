import LiveActivities
import Pacing
import Telemetry
import Testing

@testable import Flow

@Suite("The dispatches under way")
struct FlightTableTests {
    /// Any update will do: a lane makes one.
    private func dispatch(_ identifier: UInt64) throws -> Dispatch {
        let lane = Lane(settings: LaneSettings(shard: ShardSettings(), types: ActivityTypes()))
        lane.setStreams(1, link: lane.addLink(pool: 0))
        let moment = Moment(pacing: Instant(milliseconds: 1_800_000_000_000), realMilliseconds: 0)
        var decoder = EventDecoder(apps: [])
        let start =
            #"{"type":"activity.started","activityId":"a","timestamp":1800000000,"attributesType":"Ride","token":"\#(String(repeating: "ab", count: 32))","contentState":{"status":"near"}}"#
        let status = #"{"type":"status","activityId":"a","timestamp":1800000000,"status":"there"}"#
        for text in [start, status] {
            let bytes = Array(text.utf8)
            try bytes.withUnsafeBytes { bytes in
                _ = lane.apply(try decoder.decode(bytes), partition: 0, offset: -1, at: moment)
            }
        }
        var body = ByteBuffer()
        let made = try #require(lane.next(at: moment, body: &body))
        return Dispatch(
            identifier: identifier, link: 0, pool: 0, update: made.update, headers: nil, shed: [], shard: 0,
            standing: Standing(partition: 0),
            permit: .free, tries: Tries())
    }

    @Test("Each is found once, and never under an identifier that had its place before")
    func once() throws {
        let template = try dispatch(0)
        func make(_ identifier: UInt64) -> Dispatch {
            Dispatch(
                identifier: identifier, link: 0, pool: 0, update: template.update, headers: nil, shed: [], shard: 0,
                standing: Standing(partition: 0),
                permit: .free, tries: Tries())
        }
        var table = FlightTable()
        var random = SplitMix(seed: 7)
        var open: [UInt64] = []
        var completed: [UInt64] = []
        for _ in 0..<3_000 {
            if open.count < 40, random.next() % 2 == 0 {
                open.append(table.add(make).identifier)
            } else if !open.isEmpty {
                let identifier = open.remove(at: Int(random.next() % UInt64(open.count)))
                #expect(table.remove(identifier)?.identifier == identifier)
                completed.append(identifier)
            }
            #expect(table.count == open.count)
        }
        #expect(Set(open + completed).count == open.count + completed.count)
        #expect(completed.allSatisfy { table.remove($0) == nil })
        #expect(table.remove(.max) == nil)
        #expect(table.isEmpty == open.isEmpty)
    }
}
