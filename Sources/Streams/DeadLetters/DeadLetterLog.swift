import Glibc
import Telemetry

/// A file of dead letters, one JSON object a line, that several processes may append to.
public final class DeadLetterLog {
    private let descriptor: Int32
    public let path: String
    private var lines = ByteBuffer(capacity: 4_096)
    /// A line was cut short, by a full disk as a rule: what comes next begins a new one.
    private var isBroken = false

    /// - Throws: where it cannot be opened.
    public init(path: String) throws(SourceFault) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw SourceFault(
                source: path, problem: "cannot be opened for appending (\(String(cString: strerror(errno))))",
                remedy: "name a file in a folder that exists and may be written to")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Appends letters in one write; they outlive the process, and what the kernel has written the machine.
    ///
    /// - Throws: where not all of them are in the file. They may be appended again.
    public func append(_ letters: [DeadLetter]) throws(SourceFault) {
        lines.removeAll()
        if isBroken { lines.append(raw: "\n") }
        for letter in letters { lines.append(line: letter) }
        let written = lines.withUnsafeBytes { bytes in
            var count = write(descriptor, bytes.baseAddress, bytes.count)
            while count < 0, errno == EINTR { count = write(descriptor, bytes.baseAddress, bytes.count) }
            return count
        }
        guard written == lines.count else {
            if written > 0 { isBroken = true }
            let why = written < 0 ? String(cString: strerror(errno)) : "only a part was taken"
            throw SourceFault(
                source: path, problem: "dead letters cannot be written (\(why))",
                remedy:
                    "free space, or set deadLetters.file to another place; they are written as soon as that can be done"
            )
        }
        isBroken = false
    }
}
