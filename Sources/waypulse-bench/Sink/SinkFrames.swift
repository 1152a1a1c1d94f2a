/// Walks the frames of one HTTP/2 connection from its client and writes what has to be answered. Header blocks are skipped, not decoded:
/// every request that ends is answered alike.
///
/// That is right for any client that keeps to RFC 9113: a header block is only needed by whoever wants its fields, and the answer uses no
/// dynamic table of its own. What is not checked: the number of open streams, and whether windows are kept to.
struct SinkFrames {
    /// The peer broke the protocol: the connection cannot go on.
    struct Violation: Error {
        let problem: String
    }

    private enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let settings: UInt8 = 4
        static let ping: UInt8 = 6
        static let windowUpdate: UInt8 = 8
        static let continuation: UInt8 = 9
    }

    private enum Flag {
        /// ACK, of SETTINGS and PING.
        static let endStream: UInt8 = 0x1
        static let acknowledgement: UInt8 = 0x1
        static let endHeaders: UInt8 = 0x4
    }

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    private static let frameHeaderBytes = 9
    /// RFC 9113 section 6.5.2: what a peer may send as long as nobody asks for more.
    private static let maximumFrameBytes = 16_384
    private static let streamWindowBytes: UInt32 = 65_535
    /// Given back to the connection's window in pieces of this size.
    private static let windowPieceBytes: UInt32 = 262_144
    private static let windowBytes: UInt32 = 16_777_216

    /// To be written to the client.
    private(set) var output: [UInt8] = []
    private(set) var answers = 0

    private let answer: [UInt8]
    private var prefaceSeen = 0
    /// Of a frame header that came in pieces.
    private var header: (UInt64, UInt8) = (0, 0)
    private var headerSeen = 0
    private var kind: UInt8 = 0
    private var flags: UInt8 = 0
    private var stream: UInt32 = 0
    private var length = 0
    /// Of the payload that is being walked over.
    private var payloadLeft = 0
    private var pingData: UInt64 = 0
    /// A HEADERS frame ended its stream, and its CONTINUATION frames are not over.
    private var headersEndStream = false
    private var unreturnedBytes: UInt32 = 0

    init(maximumStreams: UInt32) {
        // Indexed field 8 is ":status: 200"; then a literal that is never indexed, its name and value as they are (RFC 7541, 6.2.3).
        let name = Array("apns-id".utf8)
        let value = Array("7d3f0c52-3a55-4bd6-9d0f-0e7a6a2f1c11".utf8)
        let block: [UInt8] = [0x88, 0x10, UInt8(name.count)] + name + [UInt8(value.count)] + value
        answer = [0, 0, UInt8(block.count), Kind.headers, Flag.endHeaders | Flag.endStream, 0, 0, 0, 0] + block
        output.reserveCapacity(65_536)
        // MAX_CONCURRENT_STREAMS and INITIAL_WINDOW_SIZE.
        append(frame: Kind.settings, flags: 0, stream: 0, length: 12)
        append(UInt16(3))
        append(maximumStreams)
        append(UInt16(4))
        append(Self.streamWindowBytes)
        appendWindowUpdate(stream: 0, bytes: Self.windowBytes - 65_535)
    }

    mutating func removeOutput() { output.removeAll(keepingCapacity: true) }

    /// Takes what came, in whatever pieces.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(Violation) {
        var index = 0
        while prefaceSeen < Self.preface.count, index < bytes.count {
            guard bytes[index] == Self.preface[prefaceSeen] else {
                throw Violation(problem: "this is not HTTP/2: the connection preface is missing")
            }
            prefaceSeen += 1
            index += 1
        }
        while index < bytes.count {
            if payloadLeft > 0 {
                let count = min(payloadLeft, bytes.count - index)
                if kind == Kind.ping {
                    for byte in bytes[index..<index + count] { pingData = pingData << 8 | UInt64(byte) }
                }
                index += count
                payloadLeft -= count
                if payloadLeft == 0 { endFrame() }
            } else if headerSeen == 0, bytes.count - index >= Self.frameHeaderBytes {
                let word = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let last = bytes[index + 8]
                index += Self.frameHeaderBytes
                try beginFrame(word, last)
            } else {
                try takeHeaderByte(bytes[index])
                index += 1
            }
        }
    }

    private mutating func takeHeaderByte(_ byte: UInt8) throws(Violation) {
        headerSeen += 1
        guard headerSeen == Self.frameHeaderBytes else {
            header.0 = header.0 << 8 | UInt64(byte)
            return
        }
        headerSeen = 0
        try beginFrame(header.0, byte)
    }

    /// - Parameter word: the first eight of the nine bytes.
    private mutating func beginFrame(_ word: UInt64, _ last: UInt8) throws(Violation) {
        length = Int(word >> 40)
        kind = UInt8(truncatingIfNeeded: word >> 32)
        flags = UInt8(truncatingIfNeeded: word >> 24)
        stream = (UInt32(truncatingIfNeeded: word) << 8 | UInt32(last)) & 0x7FFF_FFFF
        guard length <= Self.maximumFrameBytes else {
            throw Violation(problem: "a frame of \(length) bytes; \(Self.maximumFrameBytes) are allowed")
        }
        guard kind != Kind.ping || length == 8 else { throw Violation(problem: "a PING of \(length) bytes, not 8") }
        payloadLeft = length
        if length == 0 { endFrame() }
    }

    private mutating func endFrame() {
        switch kind {
        case Kind.data:
            giveBack()
            if flags & Flag.endStream != 0 {
                respond()
            } else if length > 0 {
                appendWindowUpdate(stream: stream, bytes: UInt32(length))
            }
        case Kind.headers:
            headersEndStream = flags & Flag.endStream != 0
            if flags & Flag.endHeaders != 0, headersEndStream { respond() }
        case Kind.continuation:
            if flags & Flag.endHeaders != 0, headersEndStream { respond() }
        case Kind.settings:
            if flags & Flag.acknowledgement == 0 {
                append(frame: Kind.settings, flags: Flag.acknowledgement, stream: 0, length: 0)
            }
        case Kind.ping:
            if flags & Flag.acknowledgement == 0 {
                append(frame: Kind.ping, flags: Flag.acknowledgement, stream: 0, length: 8)
                append(pingData)
            }
        default: break
        }
    }

    private mutating func respond() {
        answers += 1
        let start = output.count
        output.append(contentsOf: answer)
        output.withUnsafeMutableBytes {
            $0.storeBytes(of: stream.bigEndian, toByteOffset: start + 5, as: UInt32.self)
        }
    }

    private mutating func giveBack() {
        unreturnedBytes += UInt32(length)
        guard unreturnedBytes >= Self.windowPieceBytes else { return }
        appendWindowUpdate(stream: 0, bytes: unreturnedBytes)
        unreturnedBytes = 0
    }

    private mutating func appendWindowUpdate(stream: UInt32, bytes: UInt32) {
        append(frame: Kind.windowUpdate, flags: 0, stream: stream, length: 4)
        append(bytes)
    }

    private mutating func append(frame kind: UInt8, flags: UInt8, stream: UInt32, length: UInt32) {
        append(length << 8 | UInt32(kind))
        output.append(flags)
        append(stream)
    }

    private mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { output.append(contentsOf: $0) }
    }
}
