import Pacing
import RedisFixture
import Testing

@testable import Streams

@Suite("A feed whose stream is trimmed, removed or of another kind", .serialized)
struct StreamGapTests {
    /// In one stroke: nobody reads in between.
    private func add(_ count: Int, _ bench: StreamBench, stream: String = "rides:{0}", leaving length: Int) throws {
        let script =
            "for i = 1, ARGV[1] do redis.call('XADD', KEYS[1], '*', 'event', '{}') end "
            + "return redis.call('XTRIM', KEYS[1], 'MAXLEN', ARGV[2])"
        try bench.server.call("EVAL", script, "1", stream, "\(count)", "\(length)")
    }

    @Test("tells how many were trimmed under it, and counts right afterwards")
    func trimmedLive() throws {
        let bench = try StreamBench()
        try add(20, bench, leaving: 20)
        let reader = StreamReader(bench)
        reader.drive {
            reader.offsets.count == 20 && reader.feed.lag(nowMilliseconds: 0, wallMilliseconds: 0).records == 0
        }
        try add(1_000, bench, leaving: 400)
        reader.drive { reader.offsets.count == 420 }
        reader.lookOften()
        #expect(reader.offsets.count == 420)
        #expect(reader.trimmed == 600)
        #expect(reader.feed.places[0].records == 1_020)
        #expect(reader.feed.lag(nowMilliseconds: 0, wallMilliseconds: 0).records == 0)
    }

    @Test("misses no gap where it never catches up")
    func neverCatchingUp() throws {
        let bench = try StreamBench()
        let reader = StreamReader(bench, readCount: 50)
        reader.drive { !reader.notices.isEmpty }
        var rounds = 0
        var failure: (any Error)?
        reader.drive {
            do { try add(97, bench, leaving: 150) } catch { failure = error }
            rounds += 1
            return rounds == 200 || failure != nil
        }
        #expect(failure == nil)
        reader.drive { Int64(reader.offsets.count) + reader.trimmed == 97 * 200 }
        #expect(reader.trimmed > 0)
        #expect(reader.offsets == Set(reader.offsets).sorted())
        reader.lookOften()
        #expect(Int64(reader.offsets.count) + reader.trimmed == 97 * 200)
        #expect(reader.feed.places[0].records == Int64(97 * 200))
    }

    @Test("says that a stream was removed and made anew, not that it lost its end")
    func removed() throws {
        let bench = try StreamBench()
        try add(5, bench, leaving: 5)
        let reader = StreamReader(bench)
        reader.drive { reader.offsets.count == 5 }
        try bench.server.call("DEL", "rides:{0}")
        reader.drive { reader.notices.contains { if case .replaced = $0 { true } else { false } } }
        #expect(!reader.hasRewound)
        try add(1, bench, leaving: 5)
        reader.drive { reader.offsets.count == 6 }
    }

    @Test("names the topic whose key is no stream, and reads the others")
    func otherKind() throws {
        let bench = try StreamBench()
        try bench.server.call("SET", "orders:{0}", "text")
        try add(5, bench, leaving: 5)
        let reader = StreamReader(bench, topics: ["rides", "orders"])
        reader.drive { reader.offsets.count == 5 && reader.feed.fault != nil }
        #expect(
            reader.feed.fault?.description
                == "partition 0 of rides, orders: orders:{0} is no stream; rename or remove the key, and have producers use XADD"
        )
        try bench.server.call("DEL", "orders:{0}")
        try add(3, bench, stream: "orders:{0}", leaving: 3)
        reader.drive { reader.offsets.count == 8 && reader.feed.fault == nil }
        // And where that happens while both are read.
        try bench.server.call("DEL", "rides:{0}")
        try bench.server.call("SET", "rides:{0}", "text")
        try add(3, bench, stream: "orders:{0}", leaving: 6)
        reader.drive { reader.offsets.count == 11 && reader.feed.fault != nil }
        #expect(reader.feed.fault?.problem == "rides:{0} is no stream")
    }
}
