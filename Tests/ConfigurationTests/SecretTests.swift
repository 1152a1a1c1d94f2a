import Foundation
import Testing

@testable import Configuration

@Suite struct SecretTests {
    @Test func noDescriptionShowsASecret() {
        let secret = Secret(Array("hush".utf8))
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), String(describing: [secret]), dumped] {
            #expect(!text.contains("hush") && !text.contains("104"))
        }
        #expect(secret.withBytes { Array($0) } == Array("hush".utf8))
    }

    @Test func aSecretIsReadFromItsFileOrRefusedWhereItWasNamed() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("waypulse-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("config.yaml").path
        try courierApp.replacing("/etc/waypulse/key.p8", with: "key.p8").write(
            toFile: path, atomically: true, encoding: .utf8)
        let loaded = try Configuration.load(path: path, flags: [])
        let key = Options.app.keyFile

        let missing = #expect(throws: ConfigurationFault.self) { try loaded.secret(key, app: "courier") }
        #expect(missing?.origin == .file(path: path, mark: Mark(line: 6, column: 14)))
        #expect(missing?.key == "apps.courier.keyFile")
        #expect(missing?.problem.hasSuffix("No such file or directory") == true)

        let keyPath = folder.appendingPathComponent("key.p8").path
        try Data().write(to: URL(fileURLWithPath: keyPath))
        #expect(throws: ConfigurationFault.self) { try loaded.secret(key, app: "courier") }

        try Data("pem".utf8).write(to: URL(fileURLWithPath: keyPath))
        #expect(try loaded.secret(key, app: "courier").withBytes { Array($0) } == Array("pem".utf8))
    }

    @Test func aConfigurationThatCannotBeReadIsAFault() {
        let faults = #expect(throws: ConfigurationFaults.self) {
            try Configuration.load(path: "/nowhere/c.yaml", flags: [])
        }
        #expect(
            faults?.description
                == "/nowhere/c.yaml:1:1: cannot be read: No such file or directory; check the path and its permissions")
    }
}
