import Testing

@testable import Delivery

@Suite("Base64 for URLs, without padding")
struct Base64URLTests {
    @Test(
        "RFC 4648, section 10, without its padding; RFC 7515, appendix C",
        arguments: [
            ([], ""), (Array("f".utf8), "Zg"), (Array("fo".utf8), "Zm8"), (Array("foo".utf8), "Zm9v"),
            (Array("foobar".utf8), "Zm9vYmFy"), ([3, 236, 255, 224, 193], "A-z_4ME"),
        ] as [([UInt8], String)])
    func encode(bytes: [UInt8], text: String) {
        #expect(Base64URL.encode(bytes) == text)
        #expect(JWSVerifier.decode(text) == bytes)
    }
}
