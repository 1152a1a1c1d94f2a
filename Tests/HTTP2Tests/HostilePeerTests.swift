import CNghttp2
import Testing

@testable import HTTP2

private func frame(_ type: FrameType, _ flags: FrameFlags = [], stream: Int32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
    SessionBench.frame(type, flags, stream: stream, payload)
}

/// What a server may not say: it ends the connection, with the code that RFC 9113 names.
@Suite struct HostilePeerTests {
    struct Offence: CustomStringConvertible, Sendable {
        let description: String
        let errorCode: UInt32
        let bytes: [UInt8]

        init(_ description: String, _ errorCode: UInt32, _ bytes: [UInt8]) {
            self.description = description
            self.errorCode = errorCode
            self.bytes = bytes
        }
    }

    /// With a request open on stream 1. nghttp2's client gives the same code for each.
    static let offences = [
        Offence("a short PING", HTTP2Error.frameSizeError, frame(.ping, [], [0, 0, 0, 0, 0, 0, 0])),
        Offence("PING on a stream", HTTP2Error.protocolError, frame(.ping, stream: 1, [UInt8](repeating: 0, count: 8))),
        Offence("half a setting", HTTP2Error.frameSizeError, frame(.settings, [], [0, 3, 0, 0, 0])),
        Offence("SETTINGS on a stream", HTTP2Error.protocolError, frame(.settings, stream: 1)),
        Offence(
            "an acknowledgement with settings", HTTP2Error.frameSizeError,
            frame(.settings, .acknowledgement, SessionBench.setting(3, 1))),
        Offence("a server with push", HTTP2Error.protocolError, frame(.settings, [], SessionBench.setting(2, 1))),
        Offence(
            "an initial window of 2³¹", HTTP2Error.flowControlError,
            frame(.settings, [], SessionBench.setting(4, 1 << 31))),
        Offence("frames of 100 bytes", HTTP2Error.protocolError, frame(.settings, [], SessionBench.setting(5, 100))),
        Offence(
            "frames of 2²⁴ bytes", HTTP2Error.protocolError, frame(.settings, [], SessionBench.setting(5, 1 << 24))),
        Offence("WINDOW_UPDATE of nothing", HTTP2Error.protocolError, frame(.windowUpdate, [], [0, 0, 0, 0])),
        Offence("a short WINDOW_UPDATE", HTTP2Error.frameSizeError, frame(.windowUpdate, [], [0, 0, 1])),
        Offence(
            "a connection's window of 2³¹", HTTP2Error.flowControlError,
            frame(.windowUpdate, [], SessionBench.word(0x7fff_ffff))),
        Offence("a window of no stream", HTTP2Error.protocolError, frame(.windowUpdate, stream: 99, [0, 0, 0, 1])),
        Offence("an answer to nothing", HTTP2Error.protocolError, frame(.headers, .endHeaders, stream: 99, [0x88])),
        Offence("a stream of the server's", HTTP2Error.protocolError, frame(.headers, .endHeaders, stream: 2, [0x88])),
        Offence("HEADERS on stream 0", HTTP2Error.protocolError, frame(.headers, .endHeaders, [0x88])),
        Offence(
            "padding as long as its frame", HTTP2Error.protocolError,
            frame(.headers, [.endHeaders, .padded], stream: 1, [2, 0x88])),
        Offence("DATA on stream 0", HTTP2Error.protocolError, frame(.data, [], [1])),
        Offence("DATA of no stream", HTTP2Error.protocolError, frame(.data, stream: 99, [1])),
        Offence("RST_STREAM of no stream", HTTP2Error.protocolError, frame(.resetStream, stream: 99, [0, 0, 0, 8])),
        Offence("RST_STREAM on stream 0", HTTP2Error.protocolError, frame(.resetStream, [], [0, 0, 0, 8])),
        Offence("a long RST_STREAM", HTTP2Error.frameSizeError, frame(.resetStream, stream: 1, [0, 0, 0, 8, 0])),
        Offence("a short GOAWAY", HTTP2Error.frameSizeError, frame(.goAway, [], [0, 0, 0, 0, 0, 0, 0])),
        Offence(
            "GOAWAY on a stream", HTTP2Error.protocolError, frame(.goAway, stream: 1, [UInt8](repeating: 0, count: 8))),
        Offence(
            "GOAWAY with a growing id", HTTP2Error.protocolError,
            frame(.goAway, [], [0, 0, 0, 1, 0, 0, 0, 0]) + frame(.goAway, [], [0, 0, 0, 3, 0, 0, 0, 0])),
        Offence("PUSH_PROMISE", HTTP2Error.protocolError, frame(.pushPromise, .endHeaders, stream: 1, [0, 0, 0, 2])),
        Offence(
            "a CONTINUATION of nothing", HTTP2Error.protocolError, frame(.continuation, .endHeaders, stream: 1, [0x88])),
        Offence(
            "PING amid a header block", HTTP2Error.protocolError,
            frame(.headers, [], stream: 1, [0x88]) + frame(.ping, [], [UInt8](repeating: 0, count: 8))),
        Offence("a short PRIORITY", HTTP2Error.frameSizeError, frame(.priority, stream: 1, [0, 0, 0, 0])),
        Offence("a frame too long", HTTP2Error.frameSizeError, [0, 0x40, 1, 0, 0, 0, 0, 0, 1]),
        Offence(
            "an index beyond the table", HTTP2Error.compressionError,
            frame(.headers, .endHeaders, stream: 1, [0xff, 0])),
        Offence(
            "a field cut off", HTTP2Error.compressionError, frame(.headers, .endHeaders, stream: 1, [0x88, 0, 5, 97])),
    ]

    @Test(arguments: offences) func endsTheConnection(offence: Offence) {
        let bench = SessionBench().withRequest()
        bench.receive(offence.bytes)
        expectTheEnd(bench, offence.errorCode)
    }

    /// nghttp2's client session is the judge of the table above.
    @Test(arguments: offences) func endsItForNghttp2AsWell(offence: Offence) {
        let judge = Nghttp2Client()
        judge.receive(frame(.settings) + frame(.settings, .acknowledgement) + offence.bytes)
        #expect(judge.goAwayCode == offence.errorCode)
    }

    @Test func thatDoesNotBeginWithSettingsIsNoServer() {
        let bench = SessionBench(settings: nil)
        bench.receive(frame(.ping, [], [UInt8](repeating: 0, count: 8)))
        #expect(bench.take().last?.errorCode == HTTP2Error.protocolError)
    }

    @Test func thatOpensAStreamsWindowTooFarIsRefused() {
        let bench = SessionBench().withRequest()
        bench.receive(frame(.windowUpdate, stream: 1, SessionBench.word(0x7fff_ffff)))
        expectTheEnd(bench, HTTP2Error.flowControlError)
    }

    @Test func thatNeverEndsAHeaderBlockIsBounded() {
        for fragment in [[UInt8](), [UInt8](repeating: 0x88, count: 16_384)] {
            let bench = SessionBench().withRequest()
            bench.receive(frame(.headers, [], stream: 1, fragment))
            for _ in 0..<100 { bench.receive(frame(.continuation, [], stream: 1, fragment)) }
            #expect(bench.session.block.count <= ClientSession.longestHeaderBlock)
            expectTheEnd(bench, HTTP2Error.enhanceYourCalm)
        }
    }

    @Test func thatSendsMoreThanTheWindowsIsStopped() {
        var options = ClientConnection.Options.quick
        options.streamWindowBytes = 1 << 24
        let bench = SessionBench(options).withRequest()
        bench.receive(frame(.settings, .acknowledgement))
        bench.receive(frame(.headers, .endHeaders, stream: 1, [0x88]))
        // What it may send without an answer to the half window's WINDOW_UPDATE is given back at once: so nothing is refused here.
        for _ in 0..<100 { bench.receive(frame(.data, stream: 1, [UInt8](repeating: 0, count: 16_384))) }
        #expect(bench.session.fault == nil)
        let returned = bench.take().filter { $0.type == FrameType.windowUpdate.rawValue && $0.streamID == 0 }
        #expect(returned.count == 3)

        let narrow = SessionBench().withRequest()
        narrow.receive(frame(.headers, .endHeaders, stream: 1, [0x88]))
        narrow.session.unreturnedBytes = narrow.session.connectionWindow - 100
        narrow.receive(frame(.data, stream: 1, [UInt8](repeating: 0, count: 101)))
        expectTheEnd(narrow, HTTP2Error.flowControlError)
    }

    @Test func thatAsksWithoutReadingIsBounded() {
        let bench = SessionBench().withRequest()
        let pings = (0..<1_000).flatMap { _ in frame(.ping, [], [UInt8](repeating: 7, count: 8)) }
        for _ in 0..<1_000 { bench.receive(pings) }
        #expect(bench.session.control.left < ClientSession.longestControl + 20_000)
        expectTheEnd(bench, HTTP2Error.enhanceYourCalm)
    }

    @Test func thatReadsNoFasterThanItAsksTakesUpNoMoreMemory() {
        let bench = SessionBench().withRequest()
        let output = OutputBuffer()
        let pings = (0..<1_000).flatMap { _ in frame(.ping, [], [UInt8](repeating: 7, count: 8)) }
        for _ in 0..<4 { bench.receive(pings) }
        var read = 0
        for _ in 0..<500 {
            // It asks again as soon as a thousand answers have been read, so the queue never runs empty.
            while bench.session.control.left > 51_000 {
                bench.session.control.move(to: output)
                read += output.count
                output.remove(output.count)
            }
            bench.receive(pings)
        }
        #expect(bench.session.fault == nil && read > 8_000_000)
        #expect(bench.session.control.heldBytes < ClientSession.longestControl)
    }

    private func expectTheEnd(_ bench: SessionBench, _ code: UInt32, sourceLocation: SourceLocation = #_sourceLocation)
    {
        let last = bench.take().last
        #expect(last?.type == FrameType.goAway.rawValue, sourceLocation: sourceLocation)
        #expect(last?.errorCode == code, sourceLocation: sourceLocation)
        // And nothing after it, whatever else is asked for.
        bench.receive(frame(.ping, [], [UInt8](repeating: 0, count: 8)))
        bench.client.send(2)
        #expect(bench.take().isEmpty, sourceLocation: sourceLocation)
        #expect(bench.client.completions.count <= 1, sourceLocation: sourceLocation)
    }
}

/// nghttp2 as a client, with a request open on stream 1.
private final class Nghttp2Client {
    private var session: OpaquePointer?
    private(set) var goAwayCode: UInt32?

    init() {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        defer { nghttp2_session_callbacks_del(callbacks) }
        nghttp2_session_client_new(&session, callbacks, nil)
        var settings = nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0)
        nghttp2_submit_settings(session, 0, &settings, 1)
        nghttp2_session_set_local_window_size(session, 0, 0, 1_048_576)
        var request = [
            Self.field(":method", "GET"), Self.field(":scheme", "https"), Self.field(":authority", "a"),
            Self.field(":path", "/"),
        ]
        nghttp2_submit_request(session, nil, &request, request.count, nil, nil)
        send()
    }

    deinit { nghttp2_session_del(session) }

    func receive(_ bytes: [UInt8]) {
        nghttp2_session_mem_recv(session, bytes, bytes.count)
        send()
    }

    private static func field(_ name: StaticString, _ value: StaticString) -> nghttp2_nv {
        .copied(name: name.buffer, value: value.buffer, flags: 0)
    }

    private func send() {
        var bytes: UnsafePointer<UInt8>?
        while true {
            let count = nghttp2_session_mem_send(session, &bytes)
            guard count > 0, let bytes else { return }
            guard count >= FrameHeader.size + 8, bytes[3] == FrameType.goAway.rawValue else { continue }
            goAwayCode = UnsafeRawPointer(bytes).bigEndian(at: FrameHeader.size + 4)
        }
    }
}
