import LiveActivities
import Telemetry
import Testing

/// Goal: whatever the state, what is written is JSON, has as many bytes as were counted, and says what was to be said.
/// Method: random states, some far too large, are written and read back; the seed of a failure is printed.
@Suite("Payloads of random states")
struct PayloadPropertyTests {
    private static let names = ["status", "eta", "note", "ü✓", "a\"b\\c", "driver", "stops", "\u{1}\n", ""]

    private func value(_ random: inout SeededGenerator, depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 3 ? 5 : 7), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return .number(JSONNumber(.random(in: .min ... .max, using: &random)))
        case 3:
            let double = Double.random(in: -1e6...1e6, using: &random)
            return .number(JSONNumber(double: double, text: "\(double)"))
        case 4: return .string(text(&random))
        case 5: return .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in value(&random, depth: depth + 1) })
        default: return .object(object(&random, depth: depth + 1))
        }
    }

    private func text(_ random: inout SeededGenerator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            let limit: UInt32 = [0x80, 0x800, 0xD800, 0x11_0000].randomElement(using: &random)!
            text.append(Unicode.Scalar(UInt32.random(in: 0..<limit, using: &random)) ?? "\"")
        }
        return String(text)
    }

    private func object(_ random: inout SeededGenerator, depth: Int) -> JSONObject {
        var object = JSONObject()
        for name in PayloadPropertyTests.names.shuffled(using: &random).prefix(Int.random(in: 0...5, using: &random)) {
            object[name] = value(&random, depth: depth)
        }
        return object
    }

    /// At the top of every fourth state something large that may be left out, at that of every eighth something that may not.
    private func contentState(_ random: inout SeededGenerator) -> ContentState {
        var object = object(&random, depth: 0)
        for (name, share) in [("note", 4), ("status", 8)] where Int.random(in: 0..<share, using: &random) == 0 {
            object[name] = .string(String(repeating: "é", count: .random(in: 1_500...2_500, using: &random)))
        }
        return ContentState(object)
    }

    private func push(_ random: inout SeededGenerator) -> Push {
        Push(
            event: Push.Event.allCases.randomElement(using: &random)!, activityIdentifier: text(&random),
            attributesType: "T", attributes: object(&random, depth: 2), timestampSeconds: 1_795_953_600,
            contentState: contentState(&random),
            staleDateSeconds: .random(using: &random) ? 1_795_953_780 : nil,
            dismissal: [nil, .immediate, .at(milliseconds: 1_795_957_200_000)].randomElement(using: &random)!,
            relevanceScore: .random(using: &random) ? .random(in: -1e9...1e9, using: &random) : nil,
            alert: Alert(title: .string("t" + text(&random)), body: nil, sound: nil))
    }

    @Test(
        "read back as they were, with as many bytes as counted, never above the limits",
        arguments: 0..<20 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let type = try ActivityTypeSettings(
            shed: [FieldPath("note"), FieldPath("driver.note"), FieldPath("stops"), FieldPath("driver")],
            activityIdentifierField: FieldPath("id"))
        var (written, refused, shedding) = (0, 0, 0)
        for _ in 0..<100 {
            let push = push(&random)
            var buffer = ByteBuffer()
            let info: PayloadInfo
            do {
                info = try PayloadWriter.write(push, type, into: &buffer)
            } catch {
                #expect(
                    buffer.isEmpty && ["payload_too_large", "payload_too_large_for_phone"].contains(error.name),
                    "seed \(seed)")
                refused += 1
                continue
            }
            written += 1
            if !info.shed.isEmpty { shedding += 1 }
            #expect(info.bytes == buffer.count && info.bytes <= 4_096, "seed \(seed)")
            let aps = try buffer.withUnsafeBytes { bytes throws(EventFault) in
                try JSONParser.parse(bytes)
            }.asObject?["aps"]?.asObject
            var expected = push.contentState
            for path in info.shed { expected[path] = nil }
            #expect(aps?["content-state"] == .object(expected.object), "seed \(seed)")
            #expect(aps?["timestamp"]?.asDouble == 1_795_953_600, "seed \(seed)")
            #expect(aps?["relevance-score"]?.asDouble == push.relevanceScore, "seed \(seed)")
            #expect((aps?["stale-date"] == nil) == (push.event == .end || push.staleDateSeconds == nil), "seed \(seed)")
            #expect((aps?["dismissal-date"] == nil) == (push.event != .end || push.dismissal == nil), "seed \(seed)")
            #expect((aps?["input-push-token"] != nil) == (push.event == .start), "seed \(seed)")
            if push.event == .start {
                #expect(aps?["attributes"]?.asObject?["id"] == .string(push.activityIdentifier), "seed \(seed)")
            }
        }
        // The draw must reach all three, or nothing was shown.
        #expect(written > 20 && refused > 0 && shedding > 0, "seed \(seed): \(written) \(refused) \(shedding)")
    }
}
