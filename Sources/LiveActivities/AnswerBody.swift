import Telemetry

/// What the body of a refusal, or the debug data of a GOAWAY, tells. Broken JSON tells nothing.
struct AnswerBody {
    private(set) var reason: APNsReason?
    private(set) var timestampMilliseconds: Int64?

    init(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty, let object = (try? JSONParser.parse(bytes))?.asObject else { return }
        if let text = object["reason"]?.asString, !text.isEmpty { reason = APNsReason(text) }
        if let number = object["timestamp"]?.asDouble, number >= 0, number < 9e15 {
            timestampMilliseconds = Int64(number)
        }
    }
}

extension APNsReason {
    /// - Parameter goAwayDebugData: `{"reason": …}` as APNs gives it; nil where it is anything else.
    public init?(goAwayDebugData bytes: UnsafeRawBufferPointer) {
        guard let reason = AnswerBody(bytes).reason else { return nil }
        self = reason
    }
}

extension ProviderAnswer {
    /// Never fails: what cannot be read is absent, and the status class decides.
    ///
    /// - Parameter retryAfter: value of the field `retry-after`; the form with a date is ignored.
    public init(status: Int, body: UnsafeRawBufferPointer, retryAfter: UnsafeRawBufferPointer? = nil) {
        let read = AnswerBody(body)
        self.init(
            status: status, reason: read.reason, timestampMilliseconds: read.timestampMilliseconds,
            retryAfterSeconds: retryAfter.flatMap(ProviderAnswer.seconds))
    }

    /// Nine digits are thirty years; more is no delay but a fault.
    private static func seconds(_ text: UnsafeRawBufferPointer) -> Int64? {
        guard (1...9).contains(text.count) else { return nil }
        var seconds: Int64 = 0
        for byte in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            seconds = seconds * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return seconds
    }
}
