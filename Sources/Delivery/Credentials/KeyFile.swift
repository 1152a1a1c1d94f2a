import Configuration
import Glibc

/// Where a signing key lies: a `.p8` file, or a folder with files named as Apple names them, of which the newest counts.
public struct KeyFile: Sendable, Hashable {
    public let path: String
    /// Nil: it stands in the file's name, `AuthKey_<key id>.p8`.
    public let keyIdentifier: String?

    public init(path: String, keyIdentifier: String?) {
        self.path = path
        self.keyIdentifier = keyIdentifier
    }

    /// A key as it lay there.
    public struct Content: Sendable {
        public let path: String
        public let keyIdentifier: String
        public let pem: Secret
    }

    private static let prefix = "AuthKey_"
    private static let suffix = ".p8"

    public func read() throws(CredentialFault) -> Content {
        let file = try isFolder ? newest() : path
        guard let identifier = keyIdentifier ?? KeyFile.identifier(inNameOf: file) else {
            throw CredentialFault(
                credential: path, problem: "its name tells no key id",
                remedy: "name it AuthKey_<key id>.p8 as Apple does, or set keyId")
        }
        do throws(SecretFileFault) {
            return Content(path: file, keyIdentifier: identifier, pem: try SecretFile.read(file))
        } catch {
            throw CredentialFault(
                credential: file, problem: "cannot be used: \(error.problem)",
                remedy: "check the path and its permissions")
        }
    }

    private var isFolder: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The same one in every process that sees the folder, for two keys of a team that take turns are refused. With several of the same age the
    /// last name counts.
    private func newest() throws(CredentialFault) -> String {
        var best: (seconds: Int, nanoseconds: Int, name: String)?
        for name in names() {
            guard let identifier = KeyFile.identifier(inNameOf: name), keyIdentifier ?? identifier == identifier else {
                continue
            }
            var status = stat()
            guard stat("\(path)/\(name)", &status) == 0 else { continue }
            let found = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec, name)
            if best == nil || best! < found { best = found }
        }
        guard let best else {
            throw CredentialFault(
                credential: path, problem: "holds no AuthKey_\(keyIdentifier ?? "<key id>").p8",
                remedy: "put the signing key there, named as Apple names it")
        }
        return "\(path)/\(best.name)"
    }

    private func names() -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            // The name's length is the file system's, not the tuple's that Swift sees.
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { name in
                    name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }

    /// Ten letters and digits, upper case.
    static func identifier(inNameOf path: String) -> String? {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
        let identifier = name.dropFirst(prefix.count).dropLast(suffix.count)
        let isWellFormed =
            identifier.utf8.count == 10
            && identifier.utf8.allSatisfy {
                ($0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z"))
                    || ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9"))
            }
        return isWellFormed ? String(identifier) : nil
    }
}

extension KeyFile.Content {
    /// - Throws: where it is no key that signs ES256.
    public func signingKey(name: String? = nil) throws(CredentialFault) -> SigningKey {
        try SigningKey(pem: pem.withBytes { Array($0) }, name: name ?? path)
    }
}
