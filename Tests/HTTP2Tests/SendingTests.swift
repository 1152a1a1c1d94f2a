import Testing

@testable import HTTP2

private func frame(_ type: FrameType, _ flags: FrameFlags = [], stream: Int32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
    SessionBench.frame(type, flags, stream: stream, payload)
}

/// Requests on their way out, frame by frame.
@Suite struct SendingTests {
    /// Settings of the first frame.
    private func bench(_ settings: (UInt16, UInt32)..., options: ClientConnection.Options = .quick) -> SessionBench {
        SessionBench(options, settings: frame(.settings, [], settings.flatMap { SessionBench.setting($0.0, $0.1) }))
    }

    private func bodyBytes(_ frames: [SessionBench.Frame], stream: Int32) -> Int {
        frames.filter { $0.type == FrameType.data.rawValue && $0.streamID == stream }.reduce(0) {
            $0 + $1.payload.count
        }
    }

    @Test func aConnectionBeginsWithThePrefaceAndItsSettings() {
        let bench = SessionBench(settings: nil)
        let bytes = bench.takeBytes()
        #expect(String(decoding: bytes.prefix(24), as: UTF8.self) == "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        let expected =
            frame(.settings, [], SessionBench.setting(2, 0) + SessionBench.setting(4, 65_535))
            + frame(.windowUpdate, [], SessionBench.word(1_048_576 - 65_535))
        #expect(Array(bytes.dropFirst(24)) == expected)
    }

    @Test func settingsAndPingsAreAnswered() {
        let bench = bench()
        let payload: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
        bench.receive(frame(.ping, [], payload))
        let frames = bench.take().dropFirst(2)
        #expect(frames.map(\.type) == [FrameType.settings.rawValue, FrameType.ping.rawValue])
        #expect(frames.allSatisfy { $0.flags == FrameFlags.acknowledgement.rawValue })
        #expect(frames.last?.payload == payload)
    }

    @Test func aBodyStopsAtItsStreamsWindowAndGoesOnWhenItIsOpened() {
        let bench = bench((4, 100))
        bench.client.send(1, body: String(repeating: "x", count: 250))
        #expect(bodyBytes(bench.take(), stream: 1) == 100)
        #expect(bench.take().isEmpty)
        bench.receive(frame(.windowUpdate, stream: 1, [0, 0, 0, 99]))
        #expect(bodyBytes(bench.take(), stream: 1) == 99)
        bench.receive(frame(.windowUpdate, stream: 1, [0, 0, 1, 0]))
        let last = bench.take()
        #expect(bodyBytes(last, stream: 1) == 51)
        #expect(last.last?.flags == FrameFlags.endStream.rawValue)
    }

    @Test func aWindowThatShrinksBelowNothingHasToBeFilledFirst() {
        let bench = bench((4, 100))
        bench.client.send(1, body: String(repeating: "x", count: 250))
        _ = bench.take()
        // 100 are used: the window is at −60, then at −10, then at 5.
        bench.receive(frame(.settings, [], SessionBench.setting(4, 40)))
        bench.receive(frame(.windowUpdate, stream: 1, [0, 0, 0, 50]))
        #expect(bodyBytes(bench.take(), stream: 1) == 0)
        bench.receive(frame(.windowUpdate, stream: 1, [0, 0, 0, 15]))
        #expect(bodyBytes(bench.take(), stream: 1) == 5)
        // And a larger initial window opens those that stand still.
        bench.receive(frame(.settings, [], SessionBench.setting(4, 1_000)))
        #expect(bodyBytes(bench.take(), stream: 1) == 145)
    }

    @Test func whatDoesNotFitIntoTheConnectionsWindowIsNotEvenBegun() {
        let bench = bench((4, 1 << 20))
        for tag in 0..<3 { bench.client.send(UInt64(tag), body: String(repeating: "x", count: 60_000)) }
        let frames = bench.take()
        #expect(bodyBytes(frames, stream: 1) == 60_000)
        #expect(bodyBytes(frames, stream: 3) == 5_535)
        #expect(!frames.contains { $0.streamID == 5 })
        // The third is known to be unprocessed.
        bench.client.connection.cancel(tag: 2)
        bench.client.connection.cancel(tag: 1)
        #expect(bench.client.endings[2] == .notProcessed(.neverWritten))
        #expect(bench.client.endings[1] == .unknown(.cancelled))
        bench.receive(frame(.windowUpdate, [], SessionBench.word(1 << 20)))
        bench.client.send(3)
        let rest = bench.take()
        #expect(rest.first?.type == FrameType.resetStream.rawValue)
        #expect(rest.filter { $0.type == FrameType.headers.rawValue }.map(\.streamID) == [7])
    }

    @Test func longBlocksGoInContinuationsWithNothingBetweenThem() {
        let bench = SessionBench()
        bench.client.template = RequestTemplate(
            authority: "localhost",
            fields: (0..<5).map {
                TemplateField("x-\($0)", String(repeating: "\($0)", count: 9_000), indexing: .neverIndexed)
            })
        bench.client.send(1, path: "/" + String(repeating: "p", count: 30_000), body: "{}")
        let frames = bench.take().drop { $0.type != FrameType.headers.rawValue }
        let isContinued = frames.dropFirst().prefix { $0.type == FrameType.continuation.rawValue }
        #expect(isContinued.count >= 3 && frames.count == isContinued.count + 2)
        #expect(isContinued.last?.flags == FrameFlags.endHeaders.rawValue)
        #expect(isContinued.dropLast().allSatisfy { $0.flags == 0 } && frames.first?.flags == 0)
        let inflater = Inflater()
        let fields = inflater.fields(frames.dropLast().flatMap(\.payload))
        #expect(fields?.count == 11)
        #expect(fields?.last { $0.name == "x-4" }?.value == String(repeating: "4", count: 9_000))
    }

    @Test func everyFrameFitsBesideARecord() {
        var options = ClientConnection.Options.quick
        options.maximumStreams = 500
        let bench = bench((3, 500), (4, 1 << 20), options: options)
        bench.receive(frame(.windowUpdate, [], SessionBench.word(1 << 28)))
        for tag in 0..<200 { bench.client.send(UInt64(tag), body: String(repeating: "x", count: 40_000)) }
        let output = OutputBuffer()
        while bench.session.writeNext(to: output) {
            #expect(output.count <= 2 * OutputBuffer.recordBytes)
            if output.count >= OutputBuffer.recordBytes { output.remove(OutputBuffer.recordBytes) }
        }
    }
}
