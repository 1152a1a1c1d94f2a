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

    public var description: String { "•••" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Configuration {
    /// The content of the file that a secret option of an app names.
    ///
    /// - Throws: a fault at the option's origin where the file cannot be read, is empty or is larger than 64 KiB.
    public func secret(_ option: Option<String>, app id: String) throws(ConfigurationFault) -> Secret {
        let path = self[option, app: id]
        let key = SettingKey(option.declaration, below: id)
        let origin = settings[key]?.origin ?? .standard
        let limit = 64 << 10
        do throws(UnreadableFile) {
            let content = try FileBytes.read(path, maxBytes: limit + 1)
            guard !content.isEmpty, content.count <= limit else {
                throw UnreadableFile(problem: content.isEmpty ? "it is empty" : "it is larger than 64 KiB")
            }
            return Secret(content)
        } catch {
            throw ConfigurationFault(
                origin, key: key.path, "\(path) cannot be used: \(error.problem)", "check the path and its permissions")
        }
    }
}
