import Foundation
import PushSimulator
import Testing

/// A folder for signing keys, gone with the test.
final class KeyFolder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("waypulse-keys-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// As `mv` does: nobody sees half of it.
    func write(_ bytes: [UInt8], _ name: String, modifiedAtSeconds: Double? = nil) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)), options: .atomic)
        guard let modifiedAtSeconds else { return }
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: modifiedAtSeconds)], ofItemAtPath: file(name))
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: file(name)) }
}
