import Testing

@testable import Delivery

/// Shown by its problem: a test's name is no place for a page of PEM.
struct NoKey: CustomTestStringConvertible, Sendable {
    let pem: String
    let problem: String
    var testDescription: String { problem }

    init(_ pem: String, _ problem: String) {
        self.pem = pem
        self.problem = problem
    }
}

@Suite("ES256 signatures, and the files that hold no key for them")
struct SigningKeyTests {
    private static let message = Array(
        ("eyJhbGciOiJFUzI1NiJ9."
            + "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ").utf8)

    @Test("RFC 7515, appendix A.3: its signature verifies, so the verifier and the key can be trusted")
    func rfcSignature() throws {
        let signature = try #require(
            JWSVerifier.decode(
                "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"))
        #expect(
            JWSVerifier.verifies(Self.message, signature: signature, publicKeyPEM: TestKeys.rfc7515Public))
        #expect(
            !JWSVerifier.verifies(
                Self.message + [0], signature: signature, publicKeyPEM: TestKeys.rfc7515Public))
    }

    @Test("RFC 7515, appendix A.3: what its key signs here verifies there")
    func ownSignature() throws {
        let key = try SigningKey(pem: TestKeys.rfc7515, name: "key")
        let signature = try key.sign(Self.message)
        #expect(
            JWSVerifier.verifies(Self.message, signature: signature, publicKeyPEM: TestKeys.rfc7515Public))
    }

    // DER leaves out leading zeros: one R in 256 is short, and one S. It signs until each has come.
    @Test("A short R or S is padded to its 32 bytes")
    func shortHalves() throws {
        let key = try SigningKey(pem: TestKeys.rfc7515, name: "key")
        var short: (r: [UInt8]?, s: [UInt8]?) = (nil, nil)
        var count: UInt32 = 0
        while short.r == nil || short.s == nil {
            count += 1
            try #require(count < 100_000, "no short half ever came")
            let message = withUnsafeBytes(of: count) { Array($0) }
            let signature = try key.sign(message)
            #expect(signature.count == 64)
            guard signature[0] == 0 || signature[32] == 0 else { continue }
            #expect(JWSVerifier.verifies(message, signature: signature, publicKeyPEM: TestKeys.rfc7515Public))
            if signature[0] == 0 { short.r = signature }
            if signature[32] == 0 { short.s = signature }
        }
    }

    @Test(
        "What is no key for ES256 is refused by name, says what to do, and shows nothing of what it holds",
        arguments: [
            NoKey("", "is empty"),
            NoKey("AuthKey", "holds no private key in PEM form"),
            NoKey("-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n", "holds no private key in PEM form"),
            NoKey(String(decoding: TestKeys.rfc7515Public, as: UTF8.self), "holds no private key in PEM form"),
            NoKey(TestKeys.encrypted, "is encrypted with a passphrase"),
            NoKey(TestKeys.rsa, "is no P-256 key, and APNs takes ES256 alone"),
            NoKey(TestKeys.p384, "is no P-256 key, and APNs takes ES256 alone"),
            NoKey(TestKeys.secp256k1, "is no P-256 key, and APNs takes ES256 alone"),
        ])
    func refused(file: NoKey) throws {
        let (pem, problem) = (file.pem, file.problem)
        let fault = #expect(throws: CredentialFault.self) {
            try SigningKey(pem: Array(pem.utf8), name: "apps.courier.keyFile (AuthKey.p8)")
        }
        let text = try #require(fault).description
        #expect(text.hasPrefix("apps.courier.keyFile (AuthKey.p8): \(problem); "))
        #expect(text.hasSuffix("developer portal"))
        for line in pem.split(separator: "\n") where !line.hasPrefix("-----") && line.count > 10 {
            #expect(!text.contains(line))
        }
    }
}
