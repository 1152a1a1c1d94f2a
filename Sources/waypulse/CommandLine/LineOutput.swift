import Telemetry

/// Lines to standard output in large writes.
final class LineOutput {
    private static let flushBytes = 1 << 16
    private var buffer = ByteBuffer(capacity: flushBytes + 16_384)

    func write(_ body: (inout ByteBuffer) -> Void) {
        body(&buffer)
        if buffer.count >= LineOutput.flushBytes { flush() }
    }

    func flush() {
        buffer.withUnsafeBytes { Console.print($0) }
        buffer.removeAll()
    }
}
