import LiveActivities
import Telemetry

/// JSON as it is written in a test.
func json(_ text: String) -> JSONValue {
    do { return try JSONParser.parse(text) } catch { preconditionFailure("\(text): \(error.explanation)") }
}

func object(_ text: String) -> JSONObject {
    guard let object = json(text).asObject else { preconditionFailure("no object: \(text)") }
    return object
}

func state(_ text: String) -> ContentState { ContentState(object(text)) }

extension PayloadWriter {
    /// The body alone, as text.
    static func text(_ push: Push, _ type: ActivityTypeSettings = .plain) throws(PayloadFault) -> String {
        var buffer = ByteBuffer()
        _ = try write(push, type, into: &buffer)
        return buffer.text
    }
}

extension Push {
    /// Of the courier who arrives on 2026-11-29 at 12:00 UTC.
    static func update(_ contentState: String = #"{"status":"near"}"#) -> Push {
        Push(
            event: .update, activityIdentifier: "A17", timestampSeconds: 1_795_953_600,
            contentState: state(contentState))
    }

    static func start(_ contentState: String = #"{"status":"picked up"}"#) -> Push {
        Push(
            event: .start, activityIdentifier: "A17", attributesType: "CourierAttributes",
            attributes: object(#"{"orderId":"A17"}"#), timestampSeconds: 1_795_953_600,
            contentState: state(contentState),
            alert: Alert(
                title: .string("On its way"), body: .string("Your order left the shop"), sound: "default"))
    }

    static func end(_ contentState: String = #"{"status":"delivered"}"#) -> Push {
        var push = update(contentState)
        push.event = .end
        return push
    }

    func with(_ change: (inout Push) -> Void) -> Push {
        var changed = self
        change(&changed)
        return changed
    }
}

/// SplitMix64: the same numbers for the same seed, everywhere.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
