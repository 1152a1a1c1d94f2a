import Telemetry

extension ByteBuffer {
    /// The record of a letter as a line of a recording, with what is known of where it was published.
    ///
    /// From a recording that did not say where it comes without a wrapper, as it came.
    public mutating func append(recorded letter: DeadLetter) {
        guard letter.offset >= 0 else {
            for byte in letter.value { append(byte: byte == 0x0A ? 0x20 : byte) }
            return append(raw: "\n")
        }
        let milliseconds = letter.entry.map { Int64(clamping: $0.milliseconds) } ?? letter.firstFailedAtMilliseconds
        letter.value.withUnsafeBytes { value in
            func append(_ key: UnsafeRawBufferPointer?) {
                self.append(
                    recorded: value, key: key, partition: letter.partition, offset: letter.offset,
                    receivedAtMilliseconds: milliseconds)
            }
            if let key = letter.key { key.withUnsafeBytes { append($0) } } else { append(nil) }
        }
    }
}
