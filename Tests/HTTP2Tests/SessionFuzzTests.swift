import Testing

@testable import HTTP2

/// A peer that says anything at all. Frames are drawn, half of them such as a server sends, and some of their bytes are changed; between
/// them requests come, are cancelled and expire. Whatever is said, nothing traps, each request ends once, and what is kept stays bounded.
@Suite struct SessionFuzzTests {
    @Test(arguments: 1...8) func eachRequestEndsOnceWhateverThePeerSays(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        for round in 0..<40 {
            let bench = SessionBench()
            var tag: UInt64 = 0
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    tag += 1
                    bench.client.send(
                        tag, body: String(repeating: "x", count: Int.random(in: 0...2_000, using: &random)))
                }
                if Int.random(in: 0..<6, using: &random) == 0 {
                    bench.client.connection.cancel(tag: UInt64.random(in: 0...tag, using: &random))
                }
                if Bool.random(using: &random) { _ = bench.takeBytes() }
                var bytes = frame(&random, lastStreamID: Int32(2 * tag + 1))
                if Int.random(in: 0..<12, using: &random) == 0, !bytes.isEmpty {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                bench.receive(bytes)
            }
            let session = bench.session
            #expect(session.block.count <= ClientSession.longestHeaderBlock)
            #expect(session.streams.count <= bench.client.connection.openStreams)
            bench.client.connection.close()
            bench.loop.runOnce(timeoutMilliseconds: 0)
            #expect(bench.client.isBalanced, "seed \(seed), round \(round)")
            #expect(bench.client.connection.openStreams == 0)
        }
    }

    /// The same where the owner answers the end of a request with others, cancels some, drains or closes, from inside its callback.
    @Test(arguments: 1...6) func soItDoesWhateverTheOwnerDoesMeanwhile(seed: Int) {
        var random = SeededGenerator(seed: UInt64(100 + seed))
        for round in 0..<15 {
            let bench = SessionBench()
            let connection = bench.client.connection!
            var tag: UInt64 = 0
            func send() {
                tag += 1
                let body = String(repeating: "x", count: Int.random(in: 0...40_000, using: &random))
                bench.client.send(tag, body: body, within: Bool.random(using: &random) ? -1 : 60_000)
            }
            bench.client.onCompletion = { _, _, _, response in
                // What is lent stays whole, whatever is done in here.
                let before = response.map { Array($0.body) }
                switch Int.random(in: 0..<40, using: &random) {
                case 0..<12: send()
                case 12..<16: for _ in 0..<3 { send() }
                case 16..<22: connection.cancel(tag: UInt64.random(in: 0...tag, using: &random))
                case 22: connection.drain()
                case 23: connection.close()
                case 24: connection.expireRequests()
                default: break
                }
                #expect(response.map { Array($0.body) } == before)
            }
            for _ in 0..<60 {
                for _ in 0..<Int.random(in: 0...3, using: &random) { send() }
                if Int.random(in: 0..<8, using: &random) == 0 { connection.expireRequests() }
                if Bool.random(using: &random) { _ = bench.takeBytes() }
                bench.receive(frame(&random, lastStreamID: Int32(2 * min(tag, 40) + 1)))
            }
            #expect(bench.session.streams.count <= connection.openStreams)
            connection.close()
            bench.loop.runOnce(timeoutMilliseconds: 0)
            #expect(bench.client.isBalanced, "seed \(seed), round \(round)")
            #expect(connection.openStreams == 0)
            // It holds the bench.
            bench.client.onCompletion = { _, _, _, _ in }
        }
    }

    private func frame(_ random: inout SeededGenerator, lastStreamID: Int32) -> [UInt8] {
        let stream = Int32.random(in: 0...lastStreamID, using: &random) | 1
        var flags = FrameFlags(rawValue: UInt8.random(in: 0...255, using: &random))
        func bytes(_ range: ClosedRange<Int>) -> [UInt8] {
            (0..<Int.random(in: range, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
        switch Int.random(in: 0..<14, using: &random) {
        case 0...4:
            flags = [.endHeaders, Bool.random(using: &random) ? .endStream : []]
            let blocks: [[UInt8]] = [
                [0x88], [0x8c], SessionBench.fields([(":status", "429"), ("retry-after", "9")]),
                [0x88, 0x40, 1, 97, 1, 98], [0x88, 0xbe], SessionBench.fields([(":status", "103")]),
                SessionBench.fields([(":status", "200"), ("content-length", "2")]),
            ]
            return SessionBench.frame(.headers, flags, stream: stream, blocks.randomElement(using: &random)!)
        case 5...7:
            return SessionBench.frame(
                .data, Bool.random(using: &random) ? .endStream : [], stream: stream, bytes(0...300))
        case 8:
            return SessionBench.frame(
                .resetStream, [], stream: stream, [0, 0, 0, UInt8.random(in: 0...13, using: &random)])
        case 9:
            return SessionBench.frame(
                .windowUpdate, [], stream: Bool.random(using: &random) ? 0 : stream, [0, 0] + bytes(2...2))
        case 10:
            let identifier = UInt16.random(in: 1...6, using: &random)
            return SessionBench.frame(
                .settings, [],
                SessionBench.setting(identifier, identifier == 2 ? 0 : UInt32.random(in: 0...70_000, using: &random)))
        case 11: return SessionBench.frame(.ping, [], bytes(8...8))
        case 12:
            return SessionBench.frame(.goAway, [], SessionBench.word(UInt32(stream)) + [0, 0, 0, 0] + bytes(0...9))
        default:
            return SessionBench.frame(UInt8.random(in: 0...12, using: &random), flags, stream: stream, bytes(0...40))
        }
    }
}
