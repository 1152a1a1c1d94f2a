import Testing

@testable import RedisClient

/// Goal: whatever Redis may answer is read as it was meant, however it is cut into pieces, with nil at every level; and what it may not answer
/// is a fault, never a crash. Method: trees drawn by lot, written as RESP2, fed in pieces drawn by lot, and read back.
@Suite struct ReplyFuzzTests {
    private struct Draw: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
            return mixed ^ mixed >> 31
        }
    }

    private func tree(_ depth: Int, _ draw: inout Draw) -> Seen {
        switch Int.random(in: 0..<10, using: &draw) {
        case 0, 1: return .nothing
        case 2: return .integer(Int64.random(in: .min ... .max, using: &draw))
        case 3: return .integer(Int64.random(in: -3...3, using: &draw))
        case 4: return .refused("ERR")
        case 5, 6:
            return .text(
                String((0..<Int.random(in: 0...40, using: &draw)).map { _ in "aé\r\n{}".randomElement(using: &draw)! }))
        default:
            guard depth > 0 else { return .nothing }
            return .array((0..<Int.random(in: 0...5, using: &draw)).map { _ in tree(depth - 1, &draw) })
        }
    }

    private func bytes(_ tree: Seen, _ draw: inout Draw) -> [UInt8] {
        switch tree {
        case .text(let text):
            let isPlain = !text.utf8.contains { $0 == 13 || $0 == 10 }
            return isPlain && Bool.random(using: &draw)
                ? Array("+\(text)\r\n".utf8) : Array("$\(text.utf8.count)\r\n\(text)\r\n".utf8)
        case .integer(let number): return Array(":\(number)\r\n".utf8)
        case .array(let elements):
            return Array("*\(elements.count)\r\n".utf8) + elements.flatMap { bytes($0, &draw) }
        case .nothing: return Array((Bool.random(using: &draw) ? "$-1\r\n" : "*-1\r\n").utf8)
        case .refused(let code): return Array("-\(code) what is wrong\r\n".utf8)
        case .lost, .unsent: return []
        }
    }

    @Test func whatIsWrittenIsReadHoweverItIsCut() {
        var draw = Draw(state: 1)
        let reader = ReplyReader()
        for round in 0..<3_000 {
            // Seven levels are what hiredis reads; the root is one of them.
            let trees = (0..<Int.random(in: 1...4, using: &draw)).map { _ in tree(6, &draw) }
            let message = trees.flatMap { bytes($0, &draw) }
            var read: [Seen] = []
            var position = 0
            while position < message.count {
                let end = min(message.count, position + Int.random(in: 1...max(1, message.count / 3), using: &draw))
                let isTaken = message[position..<end].withUnsafeBytes { reader.feed($0) }
                #expect(isTaken)
                position = end
                loop: while true {
                    switch reader.next() {
                    case .reply(let reply): read.append(Seen(reply))
                    case .nothing: break loop
                    case .fault(let text):
                        Issue.record("round \(round): \(text)")
                        return
                    }
                }
            }
            guard read == trees else {
                Issue.record("round \(round): \(read) instead of \(trees)")
                return
            }
        }
    }

    @Test func whatIsBrokenEndsInAFaultOrInAnotherReply() {
        var draw = Draw(state: 2)
        var faults = 0
        for _ in 0..<3_000 {
            let reader = ReplyReader()
            var message = bytes(.array((0..<4).map { _ in tree(5, &draw) }), &draw)
            for _ in 0..<Int.random(in: 1...3, using: &draw) {
                message[Int.random(in: 0..<message.count, using: &draw)] = UInt8.random(in: 0...255, using: &draw)
            }
            guard message.withUnsafeBytes({ reader.feed($0) }) else { continue }
            loop: while true {
                switch reader.next() {
                case .reply(let reply): _ = Seen(reply)
                case .nothing: break loop
                case .fault(let text):
                    #expect(!text.isEmpty)
                    faults += 1
                    break loop
                }
            }
        }
        #expect(faults > 300)
    }

    @Test func tooDeepANestingIsAFault() {
        let reader = ReplyReader()
        let message = Array(String(repeating: "*1\r\n", count: 12).utf8)
        #expect(message.withUnsafeBytes { reader.feed($0) })
        guard case .fault = reader.next() else {
            Issue.record("read")
            return
        }
    }

    /// As XREAD answers: deleted entries are nil, and so is a read that has waited in vain.
    @Test func aReadOfStreamsIsWalkedWithoutStumblingOverNil() {
        let text =
            "*2\r\n*2\r\n$1\r\ns\r\n*3\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$5\r\nevent\r\n$2\r\n{}\r\n*2\r\n$3\r\n1-2\r\n*-1\r\n$-1\r\n*2\r\n$1\r\nt\r\n*-1\r\n"
        let reader = ReplyReader()
        #expect(Array(text.utf8).withUnsafeBytes { reader.feed($0) })
        guard case .reply(let reply) = reader.next() else {
            Issue.record("not read")
            return
        }
        var entries: [String] = []
        for stream in reply {
            for entry in stream[1] ?? stream {
                let identifier = entry[0]?.bytes.flatMap { RedisStreamID($0) }
                entries.append("\(identifier?.description ?? "nil") \(entry[1]?.count ?? -1)")
            }
        }
        #expect(entries == ["1-1 2", "1-2 0", "nil -1"])
        #expect(reply[0]?[1]?[0]?[1]?[0]?.equals("event") == true)
        #expect(reply[5] == nil)
    }
}
