import COpenSSL
import Pacing
import Telemetry

extension ByteBuffer {
    /// As `schemas/feedback.schema.json` has it: one JSON object without blanks or a line's end. No token is in it, only its hash.
    public mutating func append(_ event: FeedbackEvent) {
        var token: PushToken?
        var tokenKind: StaticString = "update"
        switch event.target {
        case .updateToken(let known): token = known
        case .startToken(let known): (token, tokenKind) = (known, "start")
        case .channel, .assumed, nil: break
        }
        let tokenHash = token.map { SHA256Hash(hexOf: $0) }
        append(raw: "{\"id\":\"")
        append(event.identifier(tokenHash))
        append(raw: "\",\"type\":\"")
        append(raw: event.kind.rawValue)
        append(raw: "\",\"activityId\":")
        append(string: event.activityIdentifier)
        member("userId", event.userIdentifier)
        append(raw: ",\"app\":")
        append(string: event.app)
        seconds("timestamp", event.timestampMilliseconds)
        member("event", event.event)
        if let sequence = event.sequence {
            append(raw: ",\"sequence\":")
            append(integer: sequence)
        }
        if let apnsIdentifier = event.apnsIdentifier {
            append(raw: ",\"apnsId\":\"")
            append(raw: apnsIdentifier.description)
            append(raw: "\"")
        }
        if let status = event.status {
            append(raw: ",\"status\":")
            append(integer: status)
        }
        member("reason", event.reason)
        member("outcome", event.outcome?.rawValue)
        if let tokenHash {
            append(raw: ",\"tokenKind\":\"")
            append(raw: tokenKind)
            append(raw: "\",\"tokenSha256\":\"")
            tokenHash.withUnsafeBytes { appendHexadecimal($0) }
            append(raw: "\"")
            seconds("registeredAt", event.registeredAtMilliseconds)
        }
        seconds("goneAt", event.goneAtMilliseconds)
        append(raw: "}")
    }

    private mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        append(raw: ",\"")
        append(raw: name)
        append(raw: "\":")
        append(string: text)
    }

    private mutating func seconds(_ name: StaticString, _ milliseconds: Int64?) {
        guard let milliseconds else { return }
        append(raw: ",\"")
        append(raw: name)
        append(raw: "\":")
        append(secondsOfMilliseconds: milliseconds)
    }

    /// A UUID in its usual form.
    private mutating func append(_ identifier: SHA256Hash) {
        identifier.withUnsafeBytes { bytes in
            for (place, byte) in bytes.prefix(16).enumerated() {
                if place == 4 || place == 6 || place == 8 || place == 10 { append(raw: "-") }
                // Version 8 of RFC 9562: made by a rule of one's own.
                let marked = place == 6 ? byte & 0x0F | 0x80 : place == 8 ? byte & 0x3F | 0x80 : byte
                Swift.withUnsafeBytes(of: marked) { appendHexadecimal($0) }
            }
        }
    }

    fileprivate mutating func appendHexadecimal(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes {
            append(byte: hexadecimalDigit(byte >> 4))
            append(byte: hexadecimalDigit(byte & 15))
        }
    }
}

extension FeedbackEvent {
    /// The same whenever the same is told: a push is known by its `apns-id`, a token that is gone by its registration, an end by its target,
    /// for no two lives of an activity share one.
    fileprivate func identifier(_ tokenHash: SHA256Hash?) -> SHA256Hash {
        var name = ByteBuffer(capacity: 256)
        name.append(raw: kind.rawValue)
        // No valid UTF-8, so that no id can look like another with something behind it.
        name.append(byte: 0xFF)
        name.append(raw: activityIdentifier)
        name.append(byte: 0xFF)
        switch kind {
        case .pushAccepted, .pushRefused, .startUnknown:
            if let apnsIdentifier {
                withUnsafeBytes(of: apnsIdentifier.high.bigEndian) { name.append(bytes: $0) }
                withUnsafeBytes(of: apnsIdentifier.low.bigEndian) { name.append(bytes: $0) }
            }
        case .tokenGone, .activityEnded:
            tokenHash?.withUnsafeBytes { name.append(bytes: $0) }
            if case .channel(let channel) = target { name.append(raw: channel) }
            if kind == .tokenGone, let registeredAtMilliseconds {
                withUnsafeBytes(of: registeredAtMilliseconds.bigEndian) { name.append(bytes: $0) }
            }
        }
        return name.withUnsafeBytes { SHA256Hash(of: $0) }
    }
}

struct SHA256Hash {
    private var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    init(of data: UnsafeRawBufferPointer) {
        Swift.withUnsafeMutableBytes(of: &bytes) { digest in
            _ = SHA256(
                data.baseAddress?.assumingMemoryBound(to: UInt8.self), data.count,
                digest.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
    }

    /// Over a token's lower-case hex digits, which is what databases hold.
    init(hexOf token: PushToken) {
        self = token.withBytes { bytes in
            withUnsafeTemporaryAllocation(byteCount: 2 * bytes.count, alignment: 1) { digits in
                for (place, byte) in bytes.enumerated() {
                    digits[2 * place] = hexadecimalDigit(byte >> 4)
                    digits[2 * place + 1] = hexadecimalDigit(byte & 15)
                }
                return SHA256Hash(of: UnsafeRawBufferPointer(digits))
            }
        }
    }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        Swift.withUnsafeBytes(of: bytes, body)
    }
}

private func hexadecimalDigit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
}
