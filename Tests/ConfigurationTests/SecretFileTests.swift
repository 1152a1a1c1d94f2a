import Foundation
import Testing

@testable import Configuration

@Suite("Files that hold secrets")
struct SecretFileTests {
    @Test("credential:NAME is a file of systemd's credentials folder")
    func credential() throws {
        #expect(
            try SecretFile.path("credential:apns-key", credentials: "/run/credentials/x")
                == "/run/credentials/x/apns-key")
        #expect(try SecretFile.path("/etc/key.p8", credentials: nil) == "/etc/key.p8")
    }

    @Test("Outside a service it is refused, with what to do", arguments: [nil, ""] as [String?])
    func noFolder(folder: String?) {
        let refusal = #expect(throws: Refusal.self) {
            try SecretFile.path("credential:apns-key", credentials: folder)
        }
        #expect(refusal?.problem.contains("CREDENTIALS_DIRECTORY is not set") == true)
        #expect(refusal?.remedy?.contains("LoadCredential=apns-key:/path/to/the/secret") == true)
    }

    @Test("A name that leads elsewhere is none", arguments: ["", "a/b", ".", "..", "/etc/key"])
    func badName(name: String) {
        #expect(throws: Refusal.self) { try SecretFile.path("credential:\(name)", credentials: "/run/credentials/x") }
    }

    @Test("A secret that every user may read is told, one for the owner is not")
    func openToAll() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("waypulse-\(UUID().uuidString).p8")
            .path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("secret".utf8).write(to: URL(fileURLWithPath: path))
        let configuration = try Configuration(flags: [
            "apps.courier.bundleId=com.example.courier", "apps.courier.teamId=A1B2C3D4E5",
            "apps.courier.keyFile=\(path)",
        ])
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(
            configuration.secretFileWarnings == [
                "apps.courier.keyFile: every user of this machine may read \(path); chmod o-r it"
            ])
        for mode in [0o600, 0o640, 0o400] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            #expect(configuration.secretFileWarnings.isEmpty)
        }
    }
}
