import Telemetry

/// One event on its way to the consumer.
public struct FleetEvent: Sendable {
    public let receivedAtMilliseconds: Int64
    /// The subject's id where the activity follows one, else the activity's.
    public let key: String
    public let value: JSONObject
    /// Not to be believed: a duplicate, a teleport, a wrong clock. It must change nothing.
    public let isNoise: Bool
}

/// What a phone tells its back end, and APNs knows, apart from the recording.
public struct FleetRegistration: Sendable, Equatable {
    public enum Kind: Sendable, Equatable {
        /// The activity began on the phone; the token is its update token.
        case began
        /// A push-to-start token; `updateToken` is the one that the phone will report for the activity.
        case start(updateToken: String)
        /// The update token that takes the place of another.
        case replaces(token: String)
    }

    public let kind: Kind
    public let token: String
    public let activityIdentifier: String
    public let attributesType: String
    /// Unix milliseconds.
    public let atMilliseconds: Int64

    public init(
        kind: Kind, token: String, activityIdentifier: String, attributesType: String, atMilliseconds: Int64
    ) {
        self.kind = kind
        self.token = token
        self.activityIdentifier = activityIdentifier
        self.attributesType = attributesType
        self.atMilliseconds = atMilliseconds
    }
}

/// A fleet's day: its events in order of arrival, the tokens behind it, and what phones should know in the end.
public struct FleetRecording: Sendable {
    public let options: FleetOptions
    public let events: [FleetEvent]
    public let registrations: [FleetRegistration]
    public let expectations: Expectations

    /// JSON lines, each event wrapped with partition, offset, key and time of arrival, or bare.
    public func lines() -> [UInt8] {
        var buffer = ByteBuffer(capacity: events.count * 256)
        var offsets = [Int64](repeating: 0, count: Int(options.partitions ?? 1))
        for event in events {
            guard let partitions = options.partitions else {
                buffer.append(event.value)
                buffer.append(byte: UInt8(ascii: "\n"))
                continue
            }
            let partition = Int(FleetRecording.hash(event.key) % UInt64(partitions))
            var line = JSONObject()
            line["partition"] = .number(JSONNumber(Int64(partition)))
            line["offset"] = .number(JSONNumber(offsets[partition]))
            line["key"] = .string(event.key)
            line["receivedAt"] = .number(JSONNumber(secondsOfMilliseconds: event.receivedAtMilliseconds))
            line["value"] = .object(event.value)
            offsets[partition] += 1
            buffer.append(line)
            buffer.append(byte: UInt8(ascii: "\n"))
        }
        return buffer.bytes
    }

    /// FNV-1a, 64 bits.
    private static func hash(_ key: String) -> UInt64 {
        key.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
