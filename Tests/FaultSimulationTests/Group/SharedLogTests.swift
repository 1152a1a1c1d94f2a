import Testing

@testable import FaultSimulation

@Suite("Streams that anyone reads after an offset")
struct SharedLogTests {
    @Test("a reader goes on after what it has read, and may read again from anywhere")
    func reads() throws {
        var log = SharedLog(partitions: 2, sources: 2)
        let first = log.append(nil, partition: 1, source: 0, atMilliseconds: 10)
        let second = log.append(nil, partition: 1, source: 0, atMilliseconds: 10)
        let third = log.append(nil, partition: 1, source: 1, atMilliseconds: 10)
        #expect(
            log.read(partition: 1, source: 0, after: nil, atMost: 9).map(\.offset) == [first.offset, second.offset])
        #expect(log.read(partition: 1, source: 0, after: first.offset, atMost: 9).map(\.offset) == [second.offset])
        #expect(log.read(partition: 1, source: 0, after: nil, atMost: 1).map(\.offset) == [first.offset])
        #expect(!log.hasMore(partition: 1, source: 0, after: second.offset))
        #expect(!log.hasMore(partition: 0, source: 0, after: nil))
        #expect([first, second, third].map(\.order) == [0, 1, 2])
    }

    @Test("the order after an offset is that of the next record, or of the one that will be next")
    func order() {
        var log = SharedLog(partitions: 1, sources: 2)
        let first = log.append(nil, partition: 0, source: 0, atMilliseconds: 1)
        _ = log.append(nil, partition: 0, source: 1, atMilliseconds: 2)
        #expect(log.order(partition: 0, source: 0, after: nil) == 0)
        #expect(log.order(partition: 0, source: 0, after: first.offset) == 2)
        #expect(log.order(partition: 0, source: 1, after: nil) == 1)
        #expect(log.count(partition: 0, source: 0, through: first.offset) == 1)
    }
}
