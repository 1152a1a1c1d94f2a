/// Frames on their way into TLS records: one record that is being written, and what no longer fitted into it.
final class OutputBuffer {
    static let recordBytes = 16_384

    private var bytes: UnsafeMutablePointer<UInt8>
    private var capacity = 2 * OutputBuffer.recordBytes + 64
    private var start = 0
    private var end = 0
    /// Bytes that have entered it.
    private(set) var producedBytes: UInt64 = 0
    /// Test of clients: so many more bytes enter, and the rest is dropped.
    var cutAfterBytes: Int?
    /// Called with each frame before it enters, where a server wants to change one.
    var reviseFrame: ((UnsafeMutablePointer<UInt8>, Int) -> Void)?

    init() { bytes = .allocate(capacity: capacity) }

    deinit { bytes.deallocate() }

    var count: Int { end - start }
    /// Before it is as full as it should ever be.
    var room: Int { 2 * OutputBuffer.recordBytes - count }
    var contents: UnsafePointer<UInt8> { UnsafePointer(bytes + start) }

    /// Where the next `count` bytes go, before `commit`.
    func reserve(_ count: Int) -> UnsafeMutableRawPointer {
        if end + count > capacity { makeRoom(count) }
        return UnsafeMutableRawPointer(bytes + end)
    }

    private func makeRoom(_ more: Int) {
        let kept = count
        if kept + more > capacity {
            // A header block of many frames, between which nothing may stand.
            capacity = kept + more
            let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
            larger.update(from: bytes + start, count: kept)
            bytes.deallocate()
            bytes = larger
        } else {
            bytes.update(from: bytes + start, count: kept)
        }
        start = 0
        end = kept
    }

    /// So many bytes have been written where `reserve` said: one whole frame, or several.
    func commit(_ count: Int) {
        var count = count
        if let reviseFrame { reviseFrame(bytes + end, count) }
        if let limit = cutAfterBytes {
            count = min(count, limit)
            cutAfterBytes = limit - count
        }
        end += count
        producedBytes += UInt64(count)
    }

    /// The first bytes have been taken out.
    func remove(_ count: Int) {
        start += count
        guard start == end else { return }
        start = 0
        end = 0
    }
}
