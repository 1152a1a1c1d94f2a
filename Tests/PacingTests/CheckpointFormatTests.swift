import Telemetry
import Testing

@testable import Pacing

@Suite("The bytes of a checkpoint")
struct CheckpointFormatTests {
    private let ride = Array("ride-1".utf8)
    private let builder = EventBuilder()

    private func saved() -> CheckpointBench {
        let bench = CheckpointBench()
        bench.apply(builder.started(0, .updateToken(.of(1)), fields: ["status": "new"], type: "Ride", id: 9))
        bench.apply(builder.status(1, "near", relevance: 3))
        bench.saveAll()
        return bench
    }

    @Test("with any bit wrong are refused, and nothing is begun")
    func damaged() throws {
        let bench = saved()
        let bytes = try #require(bench.store[ride]).bytes
        for place in bytes.indices {
            var damaged = bytes
            damaged[place] ^= 1 << UInt8(place % 8)
            let next = CheckpointBench()
            let fault = #expect(throws: CheckpointFault.self) { try next.restore(ride, from: damaged) }
            #expect(fault?.explanation.contains("damaged") == true)
            #expect(next.shard.activityCount == 0)
        }
    }

    @Test("cut anywhere are refused", arguments: [0, 1, 3, 4, 5, 20, 60])
    func cut(count: Int) throws {
        let bytes = try #require(saved().store[ride]).bytes
        let next = CheckpointBench()
        #expect(throws: CheckpointFault.self) { try next.restore(ride, from: Array(bytes.prefix(count))) }
        #expect(next.shard.activityCount == 0)
    }

    @Test("whose content ends early, sum and all, are refused wherever they end, and leave nothing behind")
    func short() throws {
        let bytes = try #require(saved().store[ride]).bytes
        for count in 2..<(bytes.count - 4) {
            let next = CheckpointBench()
            let fault = #expect(throws: CheckpointFault.self) {
                try next.restore(ride, from: sealed(Array(bytes.prefix(count))))
            }
            #expect(fault?.explanation.contains("at byte") == true)
            #expect(next.shard.activityCount == 0)
            #expect(next.shard.decisions.pending == 0)
        }
    }

    @Test("with more than there should be are refused")
    func long() throws {
        let bytes = try #require(saved().store[ride]).bytes
        let fault = #expect(throws: CheckpointFault.self) {
            try CheckpointBench().restore(ride, from: sealed(bytes.dropLast(4) + [7]))
        }
        #expect(fault?.explanation.contains("1 bytes too many") == true)
    }

    @Test("of a newer program are refused, and the text says what to do")
    func newer() throws {
        var content = Array(try #require(saved().store[ride]).bytes.dropLast(4))
        content[0] = CheckpointFormat.version + 1
        let fault = #expect(throws: CheckpointFault.self) { try CheckpointBench().restore(ride, from: sealed(content)) }
        #expect(fault?.explanation == "it has format 3, and this program reads formats 1 to 2: run the newer program")
    }

    @Test("of what is in memory already change nothing")
    func newerInMemory() throws {
        let bench = saved()
        bench.apply(builder.status(2, "there"))
        let pushes = bench.updates.count
        bench.restore(ride)
        bench.pump()
        #expect(bench.updates.count == pushes)
        #expect(bench.last?.contentState[FieldPath("status")] == "there")
    }

    @Test("Lengths of any size are read as they were written", arguments: [0, 1, 127, 128, 16_383, 16_384, 1 << 30])
    func lengths(count: Int) throws {
        var writer = CheckpointWriter()
        writer.append(count: count)
        writer.seal(from: 0)
        try writer.bytes.withUnsafeBytes { bytes in
            var reader = try CheckpointReader(sealed: bytes)
            #expect(try reader.count() == count)
            try reader.finish()
        }
    }

    private func sealed(_ content: [UInt8]) -> [UInt8] {
        var writer = CheckpointWriter()
        content.withUnsafeBytes { writer.append(raw: $0) }
        writer.seal(from: 0)
        return writer.bytes
    }
}
