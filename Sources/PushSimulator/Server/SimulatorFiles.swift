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
    /// The journal's file begins anew beyond this; the one before it is kept as `journal.jsonl.1`.
    private let maxJournalBytes: Int
    private let journal: Mutex<JournalFile>

    private struct JournalFile {
        var descriptor: Int32
        var bytes = 0
    }

    init(
        directory: String, authorityPEM: [UInt8], key: ProviderKeyPair, maxJournalBytes: Int
    ) throws(SimulatorFault) {
        self.maxJournalBytes = maxJournalBytes
        authorityPath = "\(directory)/ca.pem"
        keyPath = "\(directory)/AuthKey_\(key.identifier).p8"
        journalPath = "\(directory)/journal.jsonl"
        guard mkdir(directory, 0o755) == 0 || errno == EEXIST else {
            throw SimulatorFiles.fault("make the directory", directory)
        }
        try SimulatorFiles.write(authorityPEM, to: authorityPath, mode: 0o644)
        try SimulatorFiles.write(key.privateKeyPEM, to: keyPath, mode: 0o600)
        let descriptor = SimulatorFiles.beginJournal(journalPath)
        guard descriptor >= 0 else { throw SimulatorFiles.fault("write", journalPath) }
        journal = Mutex(JournalFile(descriptor: descriptor))
    }

    deinit {
        journal.withLock { _ = close($0.descriptor) }
    }

    /// - Returns: whether the lines were taken: a disk may be full.
    @discardableResult
    func appendToJournal(_ lines: [UInt8]) -> Bool {
        journal.withLock { file in
            if file.bytes > 0, file.bytes + lines.count > maxJournalBytes, rename(journalPath, journalPath + ".1") == 0
            {
                let descriptor = SimulatorFiles.beginJournal(journalPath)
                if descriptor >= 0 {
                    close(file.descriptor)
                    file = JournalFile(descriptor: descriptor)
                }
            }
            file.bytes += lines.count
            return SimulatorFiles.writeAll(lines, to: file.descriptor)
        }
    }

    private static func beginJournal(_ path: String) -> Int32 {
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
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
