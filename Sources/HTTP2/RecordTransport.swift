import Sockets

/// A TLS transport with the buffer in which a turn's frames become full TLS records.
final class RecordTransport {
    enum Flush {
        case allWritten
        /// The socket takes no more; an edge of writability will come.
        case blocked
        case failed(CloseReason)
    }

    let tls: TLSTransport
    let output = OutputBuffer()
    /// Of what entered `output`, the part that TLS has seen, be it only tried.
    private(set) var attemptedBytes: UInt64 = 0
    private(set) var writtenBytes: UInt64 = 0
    private(set) var writes: UInt64 = 0

    init(_ tls: TLSTransport) { self.tls = tls }

    /// Has records filled and writes them, until there is nothing more to say or the socket is full. What does not fit stays with whoever
    /// has it.
    ///
    /// - Parameter writeNext: puts the next frame into `output`; false when there is none.
    func pump(_ writeNext: () -> Bool) -> Flush {
        while true {
            // A record that is not full waits for whatever else there is.
            while output.count < OutputBuffer.recordBytes, writeNext() {}
            guard output.count > 0 else { return output.cutAfterBytes == 0 ? .failed(.requested) : .allWritten }
            if let stop = writeRecord() { return stop }
        }
    }

    /// Writes at most one record; nil when it went.
    private func writeRecord() -> Flush? {
        let length = min(output.count, OutputBuffer.recordBytes)
        attemptedBytes = max(attemptedBytes, writtenBytes + UInt64(length))
        switch tls.write(UnsafeRawBufferPointer(start: output.contents, count: length)) {
        case .bytes(let count):
            output.remove(count)
            writtenBytes += UInt64(count)
            writes += 1
            return nil
        case .blocked: return .blocked
        case .failed(let end): return .failed(CloseReason(end))
        }
    }

    /// Tells the peer that no more TLS will come, unless frames are still to be written before.
    func sayGoodbye() {
        if output.count == 0 { tls.sayGoodbye() }
    }
}
