import Glibc

/// Why a secret file could not be read. Never holds what is in it.
public struct SecretFileFault: Error, Equatable, Sendable {
    public let problem: String
}

/// Files that hold a secret and nothing else.
public enum SecretFile {
    private static let maxBytes = 64 << 10
    /// `credential:NAME` is the file NAME among those that systemd's LoadCredential gives a service.
    static let credentialPrefix = "credential:"

    public static func read(_ path: String) throws(SecretFileFault) -> Secret {
        do throws(UnreadableFile) {
            let content = try FileBytes.read(path, maxBytes: maxBytes + 1)
            guard !content.isEmpty, content.count <= maxBytes else {
                throw UnreadableFile(problem: content.isEmpty ? "it is empty" : "it is larger than 64 KiB")
            }
            return Secret(content)
        } catch {
            throw SecretFileFault(problem: error.problem)
        }
    }

    /// The path that a secret option means.
    ///
    /// - Parameter folder: `$CREDENTIALS_DIRECTORY`, nil outside a service of systemd.
    static func path(_ text: String, credentials folder: String?) throws(Refusal) -> String {
        guard text.hasPrefix(credentialPrefix) else { return text }
        let name = text.dropFirst(credentialPrefix.count)
        guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
            throw Refusal(
                problem: "names no credential of systemd", remedy: "write credential:NAME, as in LoadCredential=NAME:…")
        }
        guard let folder, !folder.isEmpty else {
            throw Refusal(
                problem: "names a credential of systemd, and CREDENTIALS_DIRECTORY is not set",
                remedy: "add LoadCredential=\(name):/path/to/the/secret to the service, or give a path")
        }
        return "\(folder)/\(name)"
    }

    static var credentialsFolder: String? { getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) } }

    /// Whether every user of the machine may read it; false where it is not there.
    static func isOpenToAll(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return status.st_mode & 0o004 != 0
    }
}

extension Configuration {
    /// Secret files that every user of the machine may read: a sentence each.
    public var secretFileWarnings: [String] {
        let secret = Set(Options.all.filter { if case .secretFile = $0.kind { true } else { false } }.map(\.key))
        return settings.compactMap { key, setting in
            guard secret.contains(key.key), case .text(let path) = setting.value, SecretFile.isOpenToAll(path)
            else { return nil }
            return "\(key.path): every user of this machine may read \(path); chmod o-r it"
        }.sorted()
    }
}
