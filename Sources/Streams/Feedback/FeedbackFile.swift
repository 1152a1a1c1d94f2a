import Glibc
import Telemetry

/// Appends feedback to a file, an event a line. Several processes may append to it.
///
/// What rotates it may move it away: before each write the path is looked at, and a file that stands there no more is left and made anew. Or it
/// may copy it and cut it to nothing (`copytruncate`): what comes next then stands at its beginning.
public final class FeedbackFile: FeedbackSink {
    public let path: String
    private var descriptor: Int32 = -1
    private var lines = ByteBuffer(capacity: 16_384)
    /// A line was cut short, by a full disk as a rule: what comes next begins a new one.
    private var isBroken = false

    /// - Throws: where it cannot be opened.
    public init(path: String) throws(SourceFault) {
        self.path = path
        try open()
    }

    deinit { close() }

    public func write(_ lines: ArraySlice<FeedbackLine>, done: @escaping (SourceFault?) -> Void) {
        do throws(SourceFault) {
            if isMovedAway { try open() }
            try append(lines)
            done(nil)
        } catch {
            done(error)
        }
    }

    public func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    private func open() throws(SourceFault) {
        close()
        descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw SourceFault(
                source: path, problem: "cannot be opened for appending (\(String(cString: strerror(errno))))",
                remedy: "name a file in a folder that exists and may be written to")
        }
        isBroken = false
    }

    private var isMovedAway: Bool {
        guard descriptor >= 0 else { return true }
        var (there, here) = (stat(), stat())
        guard stat(path, &there) == 0, fstat(descriptor, &here) == 0 else { return true }
        return there.st_ino != here.st_ino || there.st_dev != here.st_dev
    }

    /// In one write, so that lines of several processes do not mix.
    private func append(_ events: ArraySlice<FeedbackLine>) throws(SourceFault) {
        lines.removeAll()
        if isBroken { lines.append(raw: "\n") }
        for event in events {
            event.value.withUnsafeBytes { lines.append(bytes: $0) }
            lines.append(raw: "\n")
        }
        let written = lines.withUnsafeBytes { bytes in
            var count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            while count < 0, errno == EINTR { count = Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
            return count
        }
        guard written == lines.count else {
            if written > 0 { isBroken = true }
            let why = written < 0 ? String(cString: strerror(errno)) : "only a part was taken"
            throw SourceFault(
                source: path, problem: "feedback cannot be written (\(why))",
                remedy: "free space, or set feedback.file to another place")
        }
        isBroken = false
    }
}
