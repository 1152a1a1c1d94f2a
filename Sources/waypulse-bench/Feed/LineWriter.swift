import Glibc

/// Lines on their way into a descriptor, in pieces.
struct LineWriter: ~Copyable {
    private static let pieceBytes = 65_536

    private let descriptor: Int32
    private let buffer: UnsafeMutableRawBufferPointer
    private var used = 0

    init(descriptor: Int32) {
        self.descriptor = descriptor
        buffer = .allocate(byteCount: Self.pieceBytes, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// Adds a line of so many bytes and its end.
    mutating func add(_ count: Int, _ write: (UnsafeMutableRawPointer) -> Void) {
        if used + count + 1 > buffer.count { flush() }
        write(buffer.baseAddress! + used)
        buffer[used + count] = UInt8(ascii: "\n")
        used += count + 1
    }

    mutating func add(_ line: [UInt8]) {
        if used + line.count > buffer.count { flush() }
        (buffer.baseAddress! + used).copyMemory(from: line, byteCount: line.count)
        used += line.count
    }

    /// Waits for the reader where the pipe is full.
    mutating func flush() {
        var written = 0
        while written < used {
            let count = write(descriptor, buffer.baseAddress! + written, used - written)
            guard count > 0 || errno == EINTR else { break }
            written += max(0, count)
        }
        used = 0
    }
}
