import Telemetry
import Testing

@testable import PushSimulator

@Suite("A fleet is made from a seed")
struct FleetTests {
    static func options(_ change: (inout FleetOptions) -> Void = { _ in }) -> FleetOptions {
        var options = FleetOptions()
        options.activities = 40
        options.durationMilliseconds = 1_200_000
        change(&options)
        return options
    }

    static let recording = Fleet(options()).record()

    @Test("The same seed gives the same bytes, another seed others")
    func deterministic() {
        let lines = Self.recording.lines()
        #expect(Fleet(Self.options()).record().lines() == lines)
        #expect(Fleet(Self.options { $0.seed = 2 }).record().lines() != lines)
    }

    @Test("Every line is an event that the decoder takes, in order of arrival, an offset each")
    func decodable() throws {
        var decoder = EventDecoder(apps: [])
        var newest: Int64 = .min
        var offsets: [Int32: Int64] = [:]
        var partitionByKey: [String: Int32] = [:]
        var kinds: Set<UInt8> = []
        for line in Self.recording.lines().split(separator: UInt8(ascii: "\n")) {
            try Array(line).withUnsafeBytes { bytes in
                let wrapped = try RecordingLine.parse(bytes)
                kinds.insert(try decoder.decode(wrapped.value).kind.rawValue)
                let received = try #require(wrapped.receivedAtMilliseconds)
                #expect(received >= newest)
                newest = received
                let partition = try #require(wrapped.partition)
                #expect(wrapped.offset == offsets[partition, default: 0])
                offsets[partition, default: 0] += 1
                let key = String(decoding: try #require(wrapped.key), as: UTF8.self)
                #expect(partitionByKey.updateValue(partition, forKey: key) ?? partition == partition)
            }
        }
        #expect(kinds.count == 5)
        #expect(offsets.count == 4)
    }

    @Test("It holds what makes a stream hard: followers, starts by push, duplicates, teleports, wrong clocks")
    func variety() {
        let values = Self.recording.events.map(\.value)
        func count(_ test: (JSONObject) -> Bool) -> Int { values.count(where: test) }
        #expect(count { $0["follows"] != nil } > 0)
        #expect(count { $0["startToken"] != nil && $0["alert"] != nil && $0["attributes"] != nil } > 0)
        #expect(count { $0["type"]?.asString == "token" } > 0)
        #expect(count { $0["subjectId"] != nil } > 0)
        #expect(count { $0["latitude"]?.asDouble == 0 && $0["longitude"]?.asDouble == 0 } > 0)
        #expect(count { $0["dismissalDate"] != nil } > 0)
        let noise = Self.recording.events.count(where: \.isNoise)
        #expect(noise > 20 && noise < Self.recording.events.count / 10)
        #expect(Self.recording.events.count > 4_000)
        let tokens = values.compactMap { $0["token"]?.asString }
        #expect(tokens.allSatisfy { (64...160).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isHexDigit) })
    }

    @Test("Believable positions of a courier are never faster than 100 m/s apart")
    func plausible() {
        var last: [String: (Coordinate, Double)] = [:]
        for event in Self.recording.events where !event.isNoise && event.value["type"]?.asString == "position" {
            guard let latitude = event.value["latitude"]?.asDouble, let longitude = event.value["longitude"]?.asDouble,
                let timestamp = event.value["timestamp"]?.asDouble
            else { continue }
            let place = Coordinate(latitude: latitude, longitude: longitude)
            if let (before, since) = last[event.key] {
                #expect(timestamp > since)
                #expect(place.distanceMeters(to: before) / max(1, timestamp - since) < 100)
            }
            last[event.key] = (place, timestamp)
        }
        #expect(last.count > 20)
    }

    @Test("Each activity has a final state, and an ended one says delivered or cancelled")
    func finalStates() {
        let states = Self.recording.expectations.finalStates
        #expect(states.count == 40)
        #expect(states.values.allSatisfy { $0.hasTarget && $0.position != nil })
        let ended = states.values.filter { $0.ending != nil }
        #expect(ended.count > 25 && ended.count < 40)
        for state in ended {
            #expect(["delivered", "cancelled"].contains(state.contentState[FieldPath("status")]?.asString))
        }
        // What was wrong set this, and must not have been believed.
        #expect(states.values.allSatisfy { $0.contentState[FieldPath("etaTimestamp")]?.asDouble != 1 })
        // The note is taken away when the courier has the order.
        #expect(
            states.values.contains {
                $0.contentState[FieldPath("driver.name")] != nil && $0.contentState[FieldPath("note")] == nil
            })
    }

    @Test("Every token of the recording is registered, and its fingerprint leads to its activity")
    func registrations() {
        var known: Set<String> = []
        for registration in Self.recording.registrations {
            known.insert(registration.token)
            if case .start(let updateToken) = registration.kind { known.insert(updateToken) }
        }
        for event in Self.recording.events {
            for name in ["token", "startToken"] {
                guard let token = event.value[name]?.asString else { continue }
                #expect(known.contains(token))
                let activity = Self.recording.expectations.activityByToken[Fingerprint.of(token: token)]
                #expect(activity == event.value["activityId"]?.asString)
            }
        }
    }

    @Test("Without partitions the events stand bare")
    func bare() throws {
        let lines = Fleet(Self.options { $0.partitions = nil }).record().lines()
        let first = try #require(lines.split(separator: UInt8(ascii: "\n")).first)
        #expect(JSONDocument.parse(Array(first))?.asObject?["type"]?.asString == "activity.started")
    }
}
