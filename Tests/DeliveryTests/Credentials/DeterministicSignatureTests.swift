import Testing

@testable import Delivery

@Suite("Signatures whose nonce follows from key and message")
struct DeterministicSignatureTests {
    /// Of RFC 6979, appendix A.2.5, as PKCS #8.
    private static let key = Array(
        """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgya+p2EW6dRZrXCFX
        Z7HWk05Qw9s26JsSe4piKxIPZyGhRANCAARg/tS6JVqdMclh63TGNW1owEm4kjth
        +mzmaWIuYPKftnkD/hAIuLyZpBrp6VYovGTy8bIMLX6fUXejwpTURiKZ
        -----END PRIVATE KEY-----
        """.utf8)

    @Test(
        "The vectors of RFC 6979 for P-256 and SHA-256",
        arguments: [
            (
                "sample",
                "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
            ),
            (
                "test",
                "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083"
            ),
        ])
    func vectors(message: String, signature: String) throws {
        let signed = try SigningKey(pem: Self.key, name: "key").sign(Array(message.utf8))
        #expect(signed.map { String(UInt16($0) | 0x100, radix: 16).suffix(2) }.joined() == signature)
    }

    @Test("Three hundred messages, each signature as long as it must be, and good")
    func many() throws {
        let key = try SigningKey(pem: TestKeys.rfc7515, name: "key")
        for number in 0..<300 {
            let message = Array("message \(number)".utf8)
            let signature = try key.sign(message)
            #expect(signature.count == 64)
            #expect(try key.sign(message) == signature)
            #expect(JWSVerifier.verifies(message, signature: signature, publicKeyPEM: TestKeys.rfc7515Public))
        }
    }
}
