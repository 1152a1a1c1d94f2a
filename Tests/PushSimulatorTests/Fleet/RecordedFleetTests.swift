import Telemetry
import Testing

@testable import PushSimulator

@Suite("A recording of one's own is made fit for the simulator")
struct RecordedFleetTests {
    @Test("A bare trace gets a start with a token before its first position")
    func bareTrace() throws {
        let lines = (0..<3).map {
            #"{"type":"position","activityId":"car","timestamp":\#(1_795_953_600 + $0),"latitude":48.00\#($0),"longitude":11}"#
        }
        let fleet = RecordedFleet(lines: Array(lines.joined(separator: "\n").utf8))
        let output = fleet.lines.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        #expect(Array(output.dropFirst()) == lines)
        let token = try #require(fleet.registrations.first?.token)
        #expect(output[0].contains(#""activityId":"car""#) && output[0].contains(token))
        #expect(fleet.adopted == ["car"])
        #expect(fleet.registrations.map(\.kind) == [.began])
        #expect(fleet.expectations.activityByToken[Fingerprint.of(token: token)] == "car")
        let final = fleet.expectations.finalStates["car"]
        // 111 m in a second are faster than 100 m/s: the second is held aside until the third agrees with neither, and is dropped.
        #expect(final?.position?.latitude == 48)
        #expect(final?.hasTarget == true)
    }

    @Test("A fleet's own recording is left as it is, and read to the same final states and tokens")
    func fleet() {
        let recording = FleetTests.recording
        let lines = recording.lines()
        let read = RecordedFleet(lines: lines)
        #expect(read.lines == lines)
        #expect(read.adopted.isEmpty)
        #expect(Set(read.registrations.map(\.token)) == Set(recording.registrations.map(\.token)))
        #expect(read.expectations.activityByToken == recording.expectations.activityByToken)
        // All that was planted as noise is recognised by the rules.
        for (activity, state) in recording.expectations.finalStates {
            var found = read.expectations.finalStates[activity]
            found?.beganAtMilliseconds = state.beganAtMilliseconds
            found?.rideAlongFields.sort { $0.description < $1.description }
            var wanted = state
            wanted.rideAlongFields.sort { $0.description < $1.description }
            #expect(found == wanted, "\(activity)")
        }
    }

    @Test("Lines that nobody can use stay where they are")
    func unusable() {
        let lines = Array("nonsense\n{\"type\":\"party\"}\n".utf8)
        let fleet = RecordedFleet(lines: lines)
        #expect(fleet.lines == lines)
        #expect(fleet.expectations.finalStates.isEmpty)
    }
}
