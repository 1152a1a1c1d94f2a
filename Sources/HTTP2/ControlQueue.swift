/// Frames that go ahead of all requests: settings, answers to PING, windows, resets.
final class ControlQueue {
    private var frames = Region()
    private var sent = 0
    /// Bytes still to be sent.
    private(set) var left = 0

    deinit { frames.free() }

    /// Those and what was sent before them, as far as it still takes up memory.
    var heldBytes: Int { frames.count }

    func add(_ write: (inout Region) -> Void) {
        write(&frames)
        left = frames.count - sent
    }

    /// Moves what there is into the output, a record's worth at most.
    func move(to output: OutputBuffer) {
        let count = min(left, OutputBuffer.recordBytes)
        output.reserve(count).copyMemory(from: frames.bytes! + sent, byteCount: count)
        output.commit(count)
        sent += count
        left -= count
        if left == 0 {
            frames.clear()
            sent = 0
        } else if sent >= left {
            // A peer that reads no faster than it asks may keep it from ever running empty.
            frames.removeFirst(sent)
            sent = 0
        }
    }
}
