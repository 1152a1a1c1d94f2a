import Glibc
import Testing

@testable import KafkaClient

/// No broker here can be logged in to: what is shown is that a token is taken and renewed, and what is said where none can be.
@Suite struct TokenTests {
    /// A file of the test's own, which is gone with it.
    private final class TokenFile {
        let path = "/tmp/waypulse-token-\(UInt64.random(in: .min ... .max))"

        init(_ content: String = "") { write(content) }
        deinit { unlink(path) }

        func write(_ content: String) {
            // In one step, as whoever renews tokens has to.
            let file = fopen(path + ".new", "wb")!
            fputs(content, file)
            fclose(file)
            rename(path + ".new", path)
        }
    }

    private func base64URL(_ text: String) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var (bits, count, result) = (0, 0, "")
        for byte in Array(text.utf8) {
            (bits, count) = (bits << 8 | Int(byte), count + 8)
            while count >= 6 {
                count -= 6
                result.append(alphabet[bits >> count & 63])
            }
        }
        if count > 0 { result.append(alphabet[bits << (6 - count) & 63]) }
        return result
    }

    private func jwt(_ claims: String) -> String {
        "\(base64URL(#"{"alg":"RS256"}"#)).\(base64URL(claims)).c2lnbmF0dXJl"
    }

    private func now() -> Int { time(nil) }

    private func bench(_ file: TokenFile) -> Bench {
        let bench = Bench(["127.0.0.1:1"])
        bench.settings.properties = [:]
        bench.settings.login = .token(file: file.path)
        return bench
    }

    private func failure(_ client: KafkaConnection) -> KafkaFault? {
        if case .failing(let fault) = client.status, fault.kind == .credentials { fault } else { nil }
    }

    @Test func aTokenSaysUntilWhenItIsGoodAndWhoseItIs() throws {
        let text = jwt(#"{"iss": "x", "aud": ["a", {"b": 1}], "exp": 2000000000, "sub": "pulse"}"#)
        let file = TokenFile("  \(text)\n")
        let token = try KafkaToken(file: file.path, nowMilliseconds: 0)
        #expect(token.text == text)
        #expect(token.expiresAtMilliseconds == 2_000_000_000_000)
        #expect(token.principal == "pulse")
    }

    @Test(arguments: [
        ("", "holds no JWT"), ("opaque", "holds no JWT"), ("a.b", "holds no JWT"), ("a.b\nc.d", "holds no JWT"),
        ("a.%%.c", "holds no JWT"), ("a.bm8.c", "holds a JWT without exp"),
        (String(repeating: "a", count: 20_000), "holds no JWT"),
    ])
    func whatIsNoTokenIsToldWithoutBeingShown(_ content: String, _ says: String) {
        let file = TokenFile(content)
        #expect {
            try KafkaToken(file: file.path, nowMilliseconds: 0)
        } throws: { fault in
            let text = "\(fault)"
            return text.contains("the token file \(file.path) \(says)")
                && (content.count < 6 || !text.contains(content))
        }
    }

    @Test(arguments: [
        (#"{"sub": "pulse"}"#, "without exp"), (#"{"exp": 2000000000}"#, "without sub"),
        (#"{"exp": 2000000000, "sub": ""}"#, "without sub"),
        (#"{"exp": 1000000000, "sub": "pulse"}"#, "expired at 2001-09-09T01:46:40.000Z"),
        (#"{"exp": 9223372036854775807, "sub": "pulse"}"#, "nonsensical exp"), (#"{"exp": 1"#, "without exp"),
        (String(repeating: "[", count: 9_000), "without exp"),
    ])
    func claimsThatAreMissingOrOverAreNamed(_ claims: String, _ says: String) {
        let file = TokenFile(jwt(claims))
        #expect {
            try KafkaToken(file: file.path, nowMilliseconds: 1_500_000_000_000)
        } throws: { "\($0)".contains(says) }
    }

    @Test func theClientTakesTheTokenAndTakesItAgainBeforeItExpires() throws {
        let file = TokenFile(jwt(#"{"exp": \#(now() + 3), "sub": "pulse"}"#))
        let bench = bench(file)
        let topics = try bench.topics()
        bench.drive(until: { topics.tokenResult != nil })
        guard case .taken(let first) = topics.tokenResult else {
            Issue.record("\(String(describing: topics.tokenResult))")
            return
        }
        let later = now() + 1_000
        file.write(jwt(#"{"exp": \#(later), "sub": "pulse"}"#))
        bench.drive(until: { topics.tokenResult == .taken(expiresAtMilliseconds: Int64(later) * 1_000) })
        #expect(first < later * 1_000)
        bench.close(topics)
    }

    @Test func aFileOfNoUseIsWhyKafkaCannotBeWorkedWith() throws {
        let file = TokenFile("swordfish")
        let bench = bench(file)
        let topics = try bench.topics()
        bench.drive(until: { failure(topics) != nil })
        let fault = try #require(failure(topics))
        #expect(
            fault.problem == "the token file \(file.path) holds no JWT, which is three parts with points between them")
        #expect(!fault.description.contains("swordfish"))
        bench.close(topics)
    }

    @Test func aFileThatIsNotThereIsToldAtOnce() {
        let bench = Bench(["127.0.0.1:1"])
        bench.settings.properties = [:]
        bench.settings.login = .token(file: "/nowhere/token")
        #expect {
            try bench.topics()
        } throws: { "\($0)".hasPrefix("the token file /nowhere/token cannot be read: No such file or directory") }
    }

    @Test func base64URLIsReadWithAndWithoutItsEnd() {
        #expect(base64URLDecoded("bm8".utf8) == Array("no".utf8))
        #expect(base64URLDecoded("bm8=".utf8) == Array("no".utf8))
        #expect(base64URLDecoded("-_8".utf8) == [0xFB, 0xFF])
        #expect(base64URLDecoded("b=8".utf8) == nil)
        #expect(base64URLDecoded("b+8".utf8) == nil)
    }
}
