import PushSimulator
import Testing

@testable import Delivery

@Suite("Where a signing key lies")
struct KeyFileTests {
    @Test("A file: its key id is what is configured, or stands in its name")
    func file() throws {
        let folder = try KeyFolder()
        try folder.write(TestKeys.rfc7515, "AuthKey_K1L2M3N4O5.p8")
        try folder.write(TestKeys.rfc7515, "key.p8")
        #expect(
            try KeyFile(path: folder.file("AuthKey_K1L2M3N4O5.p8"), keyIdentifier: nil).read().keyIdentifier
                == "K1L2M3N4O5")
        #expect(
            try KeyFile(path: folder.file("key.p8"), keyIdentifier: "K9K9K9K9K9").read().keyIdentifier == "K9K9K9K9K9")
        let fault = #expect(throws: CredentialFault.self) {
            try KeyFile(path: folder.file("key.p8"), keyIdentifier: nil).read()
        }
        #expect(fault?.description.contains("its name tells no key id; name it AuthKey_<key id>.p8") == true)
    }

    @Test("A folder: the newest key counts, of the same age the last name; anything else in it is no key")
    func folder() throws {
        let folder = try KeyFolder()
        let key = KeyFile(path: folder.path, keyIdentifier: nil)
        let fault = #expect(throws: CredentialFault.self) { try key.read() }
        #expect(fault?.problem == "holds no AuthKey_<key id>.p8")
        try folder.write(TestKeys.rfc7515, "AuthKey_BBBBBBBBBB.p8", modifiedAtSeconds: 2_000)
        try folder.write(TestKeys.rfc7515, "AuthKey_AAAAAAAAAA.p8", modifiedAtSeconds: 1_000)
        try folder.write(TestKeys.rfc7515, "AuthKey_short.p8", modifiedAtSeconds: 3_000)
        try folder.write(TestKeys.rfc7515, ".AuthKey_CCCCCCCCCC.p8.swp", modifiedAtSeconds: 3_000)
        #expect(try key.read().keyIdentifier == "BBBBBBBBBB")
        #expect(try KeyFile(path: folder.path, keyIdentifier: "AAAAAAAAAA").read().keyIdentifier == "AAAAAAAAAA")
        try folder.write(TestKeys.rfc7515, "AuthKey_CCCCCCCCCC.p8", modifiedAtSeconds: 2_000)
        #expect(try key.read().keyIdentifier == "CCCCCCCCCC")
        try folder.write(TestKeys.rfc7515, "AuthKey_AAAAAAAAAA.p8", modifiedAtSeconds: 2_500)
        #expect(try key.read().keyIdentifier == "AAAAAAAAAA")
    }

    @Test("What is absent, empty or no key says so, with the path and no more of it")
    func unusable() throws {
        let folder = try KeyFolder()
        let path = folder.file("AuthKey_K1L2M3N4O5.p8")
        let key = KeyFile(path: path, keyIdentifier: nil)
        #expect(throws: CredentialFault.self) { try key.read() }
        try folder.write([], "AuthKey_K1L2M3N4O5.p8")
        let empty = #expect(throws: CredentialFault.self) { try key.read() }
        #expect(empty?.problem == "cannot be used: it is empty")
        try folder.write(Array("no key at all".utf8), "AuthKey_K1L2M3N4O5.p8")
        let broken = #expect(throws: CredentialFault.self) { try key.read().signingKey() }
        #expect(broken?.credential == path)
        #expect(broken?.description.contains("no key at all") == false)
    }
}
