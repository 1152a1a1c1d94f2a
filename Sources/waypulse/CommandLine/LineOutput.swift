import Glibc
import Telemetry

/// Lines to standard output in large writes.
final class LineOutput {
    private static let flushBytes = 1 << 16
    private var buffer = ByteBuffer(capacity: flushBytes + 16_384)

    func write(_ body: (inout ByteBuffer) -> Void) {
        body(&buffer)
        if buffer.count >= LineOutput.flushBytes { flush() }
    }

    /// A reader that has gone (a pipe that was closed) ends the program, as it ends other filters.
    func flush() {
        let isComplete = buffer.withUnsafeBytes { Console.write($0, to: STDOUT_FILENO) }
        buffer.removeAll()
        if !isComplete { exit(ExitCode.failure.rawValue) }
    }
}
