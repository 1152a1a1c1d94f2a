import CNghttp2
import Sockets

@testable import HTTP2

/// A client's session without a socket: bytes in, bytes out.
final class SessionBench {
    struct Frame: Equatable {
        let type: UInt8
        let flags: UInt8
        let streamID: Int32
        let payload: [UInt8]

        /// Of RST_STREAM; of GOAWAY it follows the stream's id.
        var errorCode: UInt32 {
            payload[(type == FrameType.goAway.rawValue ? 4 : 0)...].prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    let loop = try! EventLoop()
    let client: Client
    let session: ClientSession
    private let output = OutputBuffer()
    private static let tls = try! TLSContext.client(.trusting(World.certificate))
    private var carried: [UInt8] = []

    /// - Parameter settings: frame and all; the peer's first words.
    init(_ options: ClientConnection.Options = .quick, settings: [UInt8]? = SessionBench.frame(.settings)) {
        client = Client(loop: loop, host: "localhost", addresses: [], tls: SessionBench.tls, options: options)
        client.connection.phase = .settings
        session = ClientSession(slots: client.connection.slots, options: options)
        client.connection.session = session
        if let settings { receive(settings) }
    }

    deinit {
        client.onCompletion = { _, _, _, _ in }
        client.connection.close()
        loop.runOnce(timeoutMilliseconds: 0)
    }

    /// As the connection does it: what is not a whole frame comes again.
    func receive(_ bytes: [UInt8]) {
        guard session.fault == nil else { return }
        carried += bytes
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: carried.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: carried)
        do throws(SessionFault) {
            let used = try session.receive(UnsafeRawBufferPointer(copy), for: client.connection)
            carried.removeFirst(used)
        } catch {
            session.fail(error)
        }
    }

    /// What the session has to say, as bytes.
    func takeBytes() -> [UInt8] {
        var bytes: [UInt8] = []
        while session.writeNext(to: output) {
            bytes += UnsafeBufferPointer(start: output.contents, count: output.count)
            output.remove(output.count)
        }
        return bytes
    }

    /// The same in frames, without the preface.
    func take() -> [Frame] {
        var bytes = takeBytes()[...]
        if bytes.starts(with: Array("PRI * ".utf8)) { bytes = bytes.dropFirst(24) }
        var frames: [Frame] = []
        while bytes.count >= FrameHeader.size {
            let header = bytes.withUnsafeBytes { FrameHeader(reading: $0.baseAddress!) }
            bytes = bytes.dropFirst(FrameHeader.size)
            frames.append(
                Frame(
                    type: header.type, flags: header.flags.rawValue, streamID: header.streamID,
                    payload: Array(bytes.prefix(header.length))))
            bytes = bytes.dropFirst(header.length)
        }
        return frames
    }

    /// A request on stream 1, out on the wire.
    func withRequest() -> SessionBench {
        client.send(1)
        _ = take()
        return self
    }

    static func frame(
        _ type: FrameType, _ flags: FrameFlags = [], stream: Int32 = 0, _ payload: [UInt8] = []
    ) -> [UInt8] {
        frame(type.rawValue, flags, stream: stream, payload)
    }

    static func frame(_ type: UInt8, _ flags: FrameFlags, stream: Int32, _ payload: [UInt8]) -> [UInt8] {
        var frame = word(UInt32(payload.count) << 8 | UInt32(type))
        frame.append(flags.rawValue)
        frame += word(UInt32(bitPattern: stream))
        return frame + payload
    }

    static func word(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    static func setting(_ identifier: UInt16, _ value: UInt32) -> [UInt8] {
        [UInt8(identifier >> 8), UInt8(identifier & 255)] + word(value)
    }

    /// A block of plain literals, none of them for the table.
    static func fields(_ fields: [(String, String)]) -> [UInt8] {
        var block: [UInt8] = []
        for (name, value) in fields {
            block += [0, UInt8(name.utf8.count)] + Array(name.utf8)
            block += [UInt8(value.utf8.count)] + Array(value.utf8)
        }
        return block
    }
}
