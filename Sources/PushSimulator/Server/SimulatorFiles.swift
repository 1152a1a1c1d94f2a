import Glibc
import Synchronization

/// What the simulator leaves on disk, so that a client can be pointed at it.
public final class SimulatorFiles: Sendable {
    /// The authority that a client has to trust, PEM.
    public let authorityPath: String
    /// The client's signing key, PKCS #8 in PEM; readable by its owner alone.
    public let keyPath: String
    /// JSON lines.
    public let journalPath: String
    private let journalDescriptor: Int32

    init(directory: String, authorityPEM: [UInt8], key: ProviderKeyPair) throws(SimulatorFault) {
        authorityPath = "\(directory)/ca.pem"
        keyPath = "\(directory)/AuthKey_\(key.identifier).p8"
        journalPath = "\(directory)/journal.jsonl"
        guard mkdir(directory, 0o755) == 0 || errno == EEXIST else {
            throw SimulatorFiles.fault("make the directory", directory)
        }
        try SimulatorFiles.write(authorityPEM, to: authorityPath, mode: 0o644)
        try SimulatorFiles.write(key.privateKeyPEM, to: keyPath, mode: 0o600)
        journalDescriptor = open(journalPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard journalDescriptor >= 0 else { throw SimulatorFiles.fault("write", journalPath) }
    }

    deinit {
        close(journalDescriptor)
    }

    func appendToJournal(_ lines: [UInt8]) {
        SimulatorFiles.writeAll(lines, to: journalDescriptor)
    }

    private static func write(_ bytes: [UInt8], to path: String, mode: mode_t) throws(SimulatorFault) {
        // A key left from an earlier run may have another owner's mode; a new file has ours.
        unlink(path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw fault("write", path) }
        defer { close(descriptor) }
        guard writeAll(bytes, to: descriptor) else { throw fault("write", path) }
    }

    @discardableResult
    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    private static func fault(_ action: String, _ path: String) -> SimulatorFault {
        SimulatorFault(problem: "cannot \(action) \(path): \(String(cString: strerror(errno)))")
    }
}
