/// A secret that cannot be printed by accident: every description of it is masked.
public struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let content: [UInt8]

    public init(_ content: [UInt8]) { self.content = content }

    /// The secret, lent for as long as `body` runs.
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bytes = content
        let pointer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        pointer.copyBytes(from: bytes)
        defer {
            pointer.initializeMemory(as: UInt8.self, repeating: 0)
            pointer.deallocate()
        }
        return try body(UnsafeRawBufferPointer(pointer))
    }

    /// Whether a property of librdkafka's is a secret, or a text that may contain one. Rather one too many.
    static func isMeant(by property: String) -> Bool {
        ["password", "secret", ".pem", "ssl_", "sasl.oauthbearer.config", "kinit.cmd"].contains { part in
            property.indices.contains { property[$0...].hasPrefix(part) }
        }
    }

    public var description: String { "•••" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Configuration {
    /// The content of the file that a secret option of an app names.
    ///
    /// - Throws: a fault at the option's origin where the file cannot be read, is empty or is larger than 64 KiB.
    public func secret(_ option: Option<String>, app id: String) throws(ConfigurationFault) -> Secret {
        Secret(try content(of: self[option, app: id], SettingKey(option.declaration, below: id)))
    }

    /// What is wrong with an app's option for a reason that only its use shows, at the option's origin.
    public func fault(
        _ option: Option<String>, app id: String, problem: String, remedy: String
    ) -> ConfigurationFault {
        let key = SettingKey(option.declaration, below: id)
        return ConfigurationFault(settings[key]?.origin ?? .standard, key: key.path, problem, remedy)
    }

    /// The content of the file that a secret option names, nil where none is named.
    ///
    /// - Throws: as for an app's.
    public func secret(_ option: Option<String?>) throws(ConfigurationFault) -> Secret? {
        guard let path = self[option] else { return nil }
        return Secret(try content(of: path, SettingKey(option.declaration, below: nil)))
    }

    /// The same for a password: without the line break that editors and `echo` put behind it.
    public func password(_ option: Option<String?>) throws(ConfigurationFault) -> Secret? {
        guard let path = self[option] else { return nil }
        let key = SettingKey(option.declaration, below: nil)
        var bytes = try content(of: path, key)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty, !bytes.contains(where: { $0 < 0x20 }) else {
            throw ConfigurationFault(
                settings[key]?.origin ?? .standard, key: key.path, "\(path) holds no password of one line",
                "write the password into it and nothing else")
        }
        return Secret(bytes)
    }

    private func content(of path: String, _ key: SettingKey) throws(ConfigurationFault) -> [UInt8] {
        do throws(SecretFileFault) {
            return try SecretFile.read(path).withBytes { Array($0) }
        } catch {
            throw ConfigurationFault(
                settings[key]?.origin ?? .standard, key: key.path, "\(path) cannot be used: \(error.problem)",
                "check the path and its permissions")
        }
    }
}
