import RedisClient
import RedisFixture
import Testing

@testable import Streams

@Suite("A feed whose connection fails it", .serialized)
struct StreamConnectionTests {
    private func add(_ count: Int, bytes: Int, _ bench: StreamBench) throws {
        let event = String(repeating: "x", count: bytes)
        for _ in 0..<count { try bench.server.call("XADD", "rides:{0}", "*", "event", event) }
    }

    @Test("asks for less where a read is more than Redis holds ready for a client, says so, and goes on")
    func tooLarge() throws {
        let bench = try StreamBench(["--client-output-buffer-limit", "normal 300kb 0 0"])
        try add(40, bytes: 50_000, bench)
        let reader = StreamReader(bench)
        reader.drive {
            reader.feed.fault?.problem.hasPrefix("2 reads in a row were lost, the last of 8 entries: ") == true
        }
        reader.drive { reader.offsets.count == 40 }
        #expect(reader.offsets == Set(reader.offsets).sorted())
        #expect(reader.feed.fault == nil)
    }

    @Test("without a connection it says why, and its lag is not nothing but unknown and older and older")
    func unconnected() throws {
        let bench = try StreamBench(["--maxclients", "1"])
        var isThere = false
        bench.client.send(RedisCommand("XADD", "rides:{0}", "*", "event", "{}"), key: nil) { _ in isThere = true }
        bench.drive(until: { isThere })
        let reader = StreamReader(bench)
        reader.drive { reader.feed.fault != nil }
        #expect(
            reader.feed.fault?.problem.contains("takes no more connections (ERR max number of clients reached)") == true
        )
        let begin = reader.nowMilliseconds
        let lag = reader.feed.lag(nowMilliseconds: begin + 60_000, wallMilliseconds: 0)
        #expect(lag.records == nil)
        #expect(lag.milliseconds > 59_000)
        bench.client.send(RedisCommand("CONFIG", "SET", "maxclients", "100"), key: nil) { _ in }
        reader.drive { reader.offsets.count == 1 && reader.feed.fault == nil }
    }

    @Test("a lag that nobody can measure any more grows")
    func growingLag() throws {
        let bench = try StreamBench()
        try add(1, bytes: 10, bench)
        let reader = StreamReader(bench)
        reader.drive { reader.offsets.count == 1 }
        reader.lookOften()
        #expect(reader.feed.lag(nowMilliseconds: 0, wallMilliseconds: 0).milliseconds == 0)
        bench.server.kill()
        reader.drive { reader.feed.fault != nil }
        let now = reader.nowMilliseconds
        let lag = reader.feed.lag(nowMilliseconds: now + 30_000, wallMilliseconds: 0)
        #expect(lag.milliseconds >= 30_000)
        #expect(
            reader.feed.lag(nowMilliseconds: now + 40_000, wallMilliseconds: 0).milliseconds == lag.milliseconds
                + 10_000)
    }
}
