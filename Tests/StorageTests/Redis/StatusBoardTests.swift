import Pacing
import RedisFixture
import Testing

@testable import Storage

@Suite("How partitions stand, for people")
struct StatusBoardTests {
    @Test("a status is read as it was written, with what nobody knows left open")
    func text() {
        var status = PartitionStatus()
        status.readOffset = 41
        status.lagMilliseconds = 1_200
        status.unsettledRecords = 3
        status.oldestUnsettledMilliseconds = 900
        #expect(status.text == "41 - - 1200 3 900")
        #expect(PartitionStatus(text: status.text) == status)
        for broken in ["", "1 2 3", "a - - 0 0 0", "1 2 3 - 0 0", "1 2 3 4 5 6 7"] {
            #expect(PartitionStatus(text: broken) == nil, "\(broken)")
        }
    }

    @Test("a look from outside sees owners, positions and what owners said")
    func look() throws {
        let bench = try RedisBench()
        let group = GroupSettings(
            name: "g", member: "one", partitions: 2, topics: ["rides", "orders"], source: .topics)
        let client = bench.client()
        defer { client.close() }
        try bench.server.call("SET", "g:{1}:lease", "one")
        try bench.server.call("HSET", "g:{1}:cursor", "rides", "41 42")
        var status = PartitionStatus()
        status.readOffset = 50
        StatusBoard(client: client, group: group).write([status, PartitionStatus()], of: 1, atMilliseconds: 1)

        var answer: Result<[PartitionLook], StoreFault>?
        GroupLook(client: client, place: "here", group: group).look { answer = $0 }
        while answer == nil { bench.loop.runOnce() }
        let looks = try #require(answer).get()
        #expect(looks[0].owner == nil && looks[0].statusAgeMilliseconds == nil)
        #expect(looks[0].positions == [nil, nil] && looks[0].statuses == [nil, nil])
        #expect(looks[1].owner == "one")
        #expect(looks[1].positions == [SettledPosition(offset: 41, records: 42), nil])
        #expect(looks[1].statuses == [status, PartitionStatus()])
        #expect(looks[1].statusAgeMilliseconds.map { $0 < 60_000 } == true)
    }
}
