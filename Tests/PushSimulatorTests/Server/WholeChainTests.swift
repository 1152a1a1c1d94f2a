import HTTP2
import Telemetry
import Testing

@testable import PushSimulator

/// Goal: fleet, server, phones, journal and judge speak of the same things. Method: a sender that knows nothing but the final states tells each
/// activity its whole truth, one push at a time over TLS, and the judge finds nothing; with one activity left out it finds that one.
@Suite("From the fleet to the judge")
struct WholeChainTests {
    private static let recording: FleetRecording = {
        var options = FleetOptions()
        options.activities = 12
        options.durationMilliseconds = 400_000
        options.rotationShare = 0
        return Fleet(options).record()
    }()

    /// What a simple-minded sender would push: its steps, each with a body and a priority.
    private func pushes(of activity: String, _ state: FinalState, token: String, startToken: String?) -> [Step] {
        var told = state.contentState
        if let position = state.position {
            told[FieldPath("latitude")] = .number(JSONNumber(fiveDecimals: position.latitude))
            told[FieldPath("longitude")] = .number(JSONNumber(fiveDecimals: position.longitude))
        }
        var steps: [Step] = []
        func add(_ event: String, _ token: String, _ priority: Int64, _ more: [JSONObject.Member] = []) {
            told[FieldPath("sequenceNumber")] = .number(JSONNumber(Int64(steps.count + 1)))
            steps.append(Step(event: event, token: token, priority: priority, contentState: told, more: more))
        }
        if let startToken {
            let attributes = JSONObject(uniqueMembers: [.init(name: "activityId", value: .string(activity))])
            add(
                "start", startToken, 10,
                [
                    .init(name: "attributes-type", value: .string("DeliveryAttributes")),
                    .init(name: "attributes", value: .object(attributes)),
                    .init(name: "alert", value: .string("Placed")),
                ])
        } else {
            let isNews = state.shownAtBegin?[FieldPath("status")] != told[FieldPath("status")]
            add("update", token, isNews ? 10 : 5)
        }
        switch state.ending {
        case .plain?: add("end", token, 10)
        case .immediate?: add("end", token, 10, [.init(name: "dismissal-date", value: .number(JSONNumber(Int64(1))))])
        case .at(let milliseconds)?:
            add("end", token, 10, [.init(name: "dismissal-date", value: .number(JSONNumber(milliseconds / 1_000)))])
        case nil: break
        }
        return steps
    }

    private struct Step {
        let event: String
        let token: String
        let priority: Int64
        let contentState: ContentState
        let more: [JSONObject.Member]

        func aps(timestampSeconds: Int64) -> String {
            var aps = JSONObject(uniqueMembers: more)
            aps["timestamp"] = .number(JSONNumber(timestampSeconds))
            aps["event"] = .string(event)
            aps["content-state"] = .object(contentState.object)
            return String(String(decoding: JSONDocument.bytes(of: .object(aps)), as: UTF8.self).dropFirst().dropLast())
        }
    }

    private func brokenPromises(leavingOut left: String?) throws -> [BrokenPromise] {
        let recording = Self.recording
        let end = recording.options.startMilliseconds + recording.options.durationMilliseconds
        let bench = try SimulatorBench { options in
            options.face.unknownTokens = .refuse
            options.clock = SimulatorClock { end }
        }
        bench.simulator.register(recording.registrations)
        let client = try bench.client()
        bench.drive { client.isReady }
        var tag: UInt64 = 0
        for registration in recording.registrations where registration.activityIdentifier != left {
            let activity = registration.activityIdentifier
            let state = try #require(recording.expectations.finalStates[activity])
            var steps: [Step]
            switch registration.kind {
            case .began: steps = pushes(of: activity, state, token: registration.token, startToken: nil)
            case .start(let token): steps = pushes(of: activity, state, token: token, startToken: registration.token)
            case .replaces: continue
            }
            for (index, step) in steps.enumerated() {
                tag += 1
                client.send(
                    tag, token: step.token, priority: step.priority,
                    aps: step.aps(timestampSeconds: end / 1_000 + Int64(index)))
                bench.drive { client.endings[tag] != nil }
                #expect(client.endings[tag] == .answered(200, ""))
            }
        }
        return Judge(expectations: recording.expectations).judge(bench.simulator.journal.entries)
    }

    @Test("Told everything, nothing is broken")
    func good() throws {
        #expect(try brokenPromises(leavingOut: nil).map(\.description) == [])
    }

    @Test("Left out, an activity's final state is missing, and no other's")
    func leftOut() throws {
        let left = try #require(Self.recording.registrations.first { $0.kind == .began }?.activityIdentifier)
        let broken = try brokenPromises(leavingOut: left)
        #expect(broken.map(\.activity) == [left])
        #expect(broken.map(\.promise) == [.finalStateTold])
    }
}
