/// A frame's nine bytes in front (RFC 9113 section 4.1).
struct FrameHeader {
    static let size = 9
    /// What everybody takes, and what this client never asks to be raised nor makes use of where the peer raises it.
    static let largestPayload = 16_384

    let length: Int
    let type: UInt8
    let flags: FrameFlags
    let streamID: Int32

    init(length: Int, type: FrameType, flags: FrameFlags = [], streamID: Int32) {
        self.length = length
        self.type = type.rawValue
        self.flags = flags
        self.streamID = streamID
    }

    init(reading bytes: UnsafeRawPointer) {
        let word = UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))
        length = Int(word >> 8)
        type = UInt8(truncatingIfNeeded: word)
        flags = FrameFlags(rawValue: bytes.load(fromByteOffset: 4, as: UInt8.self))
        // The highest bit is reserved and says nothing.
        streamID = Int32(bitPattern: bytes.bigEndian(at: 5) & 0x7fff_ffff)
    }

    func write(to bytes: UnsafeMutableRawPointer) {
        let word = UInt32(truncatingIfNeeded: length) << 8 | UInt32(type)
        bytes.storeBytes(of: word.bigEndian, as: UInt32.self)
        bytes.storeBytes(of: flags.rawValue, toByteOffset: 4, as: UInt8.self)
        bytes.storeBytes(of: streamID.bigEndian, toByteOffset: 5, as: Int32.self)
    }
}

enum FrameType: UInt8 {
    case data, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation
}

struct FrameFlags: OptionSet {
    let rawValue: UInt8
    static let endStream = FrameFlags(rawValue: 0x1)
    static let acknowledgement = FrameFlags(rawValue: 0x1)
    static let endHeaders = FrameFlags(rawValue: 0x4)
    static let padded = FrameFlags(rawValue: 0x8)
    static let priority = FrameFlags(rawValue: 0x20)
}

/// SETTINGS that this client sends or heeds (RFC 9113 section 6.5.2).
enum Setting {
    static let headerTableSize: UInt16 = 1
    static let enablePush: UInt16 = 2
    static let maximumStreams: UInt16 = 3
    static let initialWindowSize: UInt16 = 4
    static let maximumFrameSize: UInt16 = 5
}

extension UnsafeRawPointer {
    func bigEndian(at offset: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}

/// Whole frames without a body of a stream.
extension Region {
    mutating func append(_ frame: FrameHeader) { frame.write(to: extend(by: FrameHeader.size)) }
    mutating func append(bigEndian word: UInt32) { extend(by: 4).storeBytes(of: word.bigEndian, as: UInt32.self) }

    mutating func appendSettings(_ settings: [(UInt16, UInt32)]) {
        append(FrameHeader(length: 6 * settings.count, type: .settings, streamID: 0))
        for (identifier, value) in settings {
            extend(by: 2).storeBytes(of: identifier.bigEndian, as: UInt16.self)
            append(bigEndian: value)
        }
    }

    mutating func appendWindowUpdate(_ streamID: Int32, by increment: Int) {
        append(FrameHeader(length: 4, type: .windowUpdate, streamID: streamID))
        append(bigEndian: UInt32(increment))
    }

    mutating func appendReset(_ streamID: Int32, errorCode: UInt32) {
        append(FrameHeader(length: 4, type: .resetStream, streamID: streamID))
        append(bigEndian: errorCode)
    }

    mutating func appendPing(_ payload: UnsafeRawBufferPointer, flags: FrameFlags) {
        append(FrameHeader(length: payload.count, type: .ping, flags: flags, streamID: 0))
        append(payload)
    }

    mutating func appendGoAway(lastStreamID: Int32, errorCode: UInt32, debugText: String) {
        append(FrameHeader(length: 8 + debugText.utf8.count, type: .goAway, streamID: 0))
        append(bigEndian: UInt32(lastStreamID))
        append(bigEndian: errorCode)
        for byte in debugText.utf8 { append(byte) }
    }
}
