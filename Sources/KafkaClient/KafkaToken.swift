import CRdkafka
import Glibc
import Instruments
import Sockets

/// A bearer token in a file, as OAUTHBEARER wants one: a JWT (RFC 7519) that says until when it is good (`exp`) and whose it is
/// (`sub`). Whether it is genuine is for brokers to find out.
struct KafkaToken {
    let text: String
    let expiresAtMilliseconds: Int64
    let principal: String

    /// Of those that are read: brokers refuse longer ones by far.
    static let maxBytes = 16 << 10

    /// - Throws: what is wrong with the file, without anything that stands in it.
    init(file path: String, nowMilliseconds: Int64) throws(KafkaFault) {
        func fault(_ problem: String, _ remedy: String) -> KafkaFault {
            KafkaFault(.credentials, "the token file \(path) \(problem)", remedy: remedy)
        }
        let bytes = try Self.content(of: path) { fault($0, "correct its path, or let this user read it") }
        let isToken = bytes.allSatisfy { (0x21...0x7E).contains($0) }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard bytes.count <= Self.maxBytes, isToken, parts.count == 3, let payload = base64URLDecoded(parts[1]) else {
            throw fault("holds no JWT, which is three parts with points between them", "write the token into it, alone")
        }
        guard let claims = Claims(payload), let expiry = claims.expirySeconds else {
            throw fault("holds a JWT without exp", "ask for tokens that say until when they are good")
        }
        guard let subject = claims.subject, !subject.isEmpty else {
            throw fault("holds a JWT without sub", "ask for tokens that say whose they are")
        }
        let (expiresAt, overflows) = expiry.multipliedReportingOverflow(by: 1_000)
        guard !overflows, expiresAt > nowMilliseconds else {
            throw fault(
                overflows
                    ? "holds a JWT with a nonsensical exp" : "holds a token that expired at \(UTCTime(expiresAt))",
                "renew it; it is read again every 10 s")
        }
        (text, expiresAtMilliseconds, principal) = (String(decoding: bytes, as: UTF8.self), expiresAt, subject)
    }

    /// Without blanks and line ends around it.
    private static func content(of path: String, _ fault: (String) -> KafkaFault) throws(KafkaFault) -> [UInt8] {
        guard let file = fopen(path, "re") else { throw fault("cannot be read: \(SystemFault.text(errno))") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: maxBytes + 3)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0 else { throw fault("cannot be read: \(SystemFault.text(errno))") }
        bytes.removeLast(bytes.count - count)
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        return Array(bytes.drop { $0 <= 0x20 })
    }

    private struct Claims {
        var expirySeconds: Int64?
        var subject: String?

        init?(_ payload: [UInt8]) {
            var isBroken = payload.contains(0)
            (payload + [0]).withUnsafeBytes { bytes in
                var reader = JSONReader(bytes.assumingMemoryBound(to: CChar.self).baseAddress!)
                reader.object { key, reader in
                    switch key {
                    case "exp": expirySeconds = reader.integer()
                    case "sub": subject = reader.string()
                    default: reader.skip()
                    }
                }
                isBroken = isBroken || reader.isBroken
            }
            if isBroken { return nil }
        }
    }
}

extension KafkaConnection {
    /// What came of the last reading of the token's file.
    enum TokenResult: Equatable, Sendable {
        case taken(expiresAtMilliseconds: Int64)
        case failing(KafkaFault)
    }

    /// librdkafka wants a token: at the start, when four fifths of one's life are over, and 10 s after it got none.
    func refreshToken() {
        guard let path = settings.tokenFile else { return }
        ask { client in
            client.takeToken(from: path)
        } completion: { [self] result in
            tokenResult = result
            if case .failing(let fault) = result { stands(.failing(fault)) }
        }
    }
}

extension NativeClient {
    /// Gives librdkafka the token that stands in a file, or tells it why there is none.
    func takeToken(from path: String) -> KafkaConnection.TokenResult {
        do throws(KafkaFault) {
            let token = try KafkaToken(file: path, nowMilliseconds: unixMilliseconds())
            var says = [CChar](repeating: 0, count: 512)
            let code = rd_kafka_oauthbearer_set_token(
                pointer, token.text, token.expiresAtMilliseconds, token.principal, nil, 0, &says, says.count)
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
                throw KafkaFault(
                    .credentials,
                    "librdkafka does not take the token in \(path): \(KafkaClient.text(says).hiding([token.text]))",
                    remedy: "correct the token, or the properties beside it")
            }
            return .taken(expiresAtMilliseconds: token.expiresAtMilliseconds)
        } catch {
            rd_kafka_oauthbearer_set_token_failure(pointer, error.problem)
            return .failing(error)
        }
    }
}

private func unixMilliseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
}

/// RFC 4648, section 5, with or without `=` at the end; nil where it is something else.
func base64URLDecoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (bits, count): (UInt32, UInt32) = (0, 0)
    var isOver = false
    for character in text {
        let value: UInt8
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): value = 62
        case UInt8(ascii: "_"): value = 63
        case UInt8(ascii: "="):
            isOver = true
            continue
        default: return nil
        }
        guard !isOver else { return nil }
        (bits, count) = (bits << 6 | UInt32(value), count + 6)
        if count >= 8 {
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
    }
    return bytes
}
