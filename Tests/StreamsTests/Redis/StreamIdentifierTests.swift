import Flow
import Pacing
import RedisClient
import RedisFixture
import Sockets
import Testing

@testable import Streams

@Suite("A feed of a stream whose ids or counts are odd", .serialized)
struct StreamIdentifierTests {
    private func add(_ bench: StreamBench, _ identifiers: String...) throws {
        for identifier in identifiers { try bench.server.call("XADD", "rides:{0}", identifier, "event", "{}") }
    }

    @Test("an id of microseconds stops reading there, is told with its remedy, and has nothing read twice")
    func microseconds() throws {
        let bench = try StreamBench()
        try add(bench, "1-0", "2-0", "3-0")
        let reader = StreamReader(bench)
        reader.drive { reader.offsets.count == 3 }
        try add(bench, "1796035369962000-0")
        reader.drive { reader.feed.fault != nil }
        reader.lookOften()
        #expect(reader.offsets == [1 << 20, 2 << 20, 3 << 20])
        #expect(!reader.hasRewound)
        #expect(reader.feed.fault?.description.contains("XDEL 'rides:{0}' 1796035369962000-0") == true)
        try bench.server.call("XDEL", "rides:{0}", "1796035369962000-0")
        try bench.server.call("XSETID", "rides:{0}", "3-0")
        try add(bench, "4-0")
        reader.drive { reader.offsets.last == 4 << 20 && reader.feed.fault == nil }
        #expect(reader.offsets.count == 4)
    }

    @Test("such an id at the beginning is no end of the stream either")
    func microsecondsAtFirst() throws {
        let bench = try StreamBench()
        try add(bench, "5-0", "1796035369962000-0")
        let reader = StreamReader(bench, after: SettledPosition(offset: 4 << 20, records: 0))
        reader.drive { reader.feed.fault != nil && !reader.offsets.isEmpty }
        reader.lookOften()
        #expect(reader.offsets == [5 << 20])
        #expect(!reader.hasRewound)
    }

    @Test("a stream that was removed and made anew is counted anew")
    func madeAnew() throws {
        let bench = try StreamBench()
        try add(bench, "11-0", "12-0")
        let reader = StreamReader(bench, after: SettledPosition(offset: 10 << 20, records: 10))
        reader.drive { reader.offsets.count == 2 }
        let anew = SettledPosition(offset: 10 << 20, records: 0)
        #expect(reader.notices.contains(.replaced(source: 0, fromOffset: 10 << 20, anew)))
        reader.lookOften()
        #expect(reader.notices.count { if case .replaced = $0 { true } else { false } } == 1)
        try add(bench, "13-0")
        reader.drive { reader.offsets.count == 3 }
        #expect(reader.feed.lags[0].records == 0)
    }
}
