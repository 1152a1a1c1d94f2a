import Flow
import Pacing
import Testing

@testable import Storage

@Suite("What is wrong at present")
struct StandingFaultsTests {
    private static func save(_ partition: Int32) -> StoreRequest { .save(partition: partition, 1, CheckpointBatch([])) }
    private static let full = StoreFault(.refusesWrites, "full")
    private static let type = StoreFault(.misconfigured, "another type")
    private static let gone = StoreFault(.unavailable, "gone")

    @Test("full memory stands while heartbeats and renewals pass, and until a save does")
    func full() {
        var faults = StandingFaults()
        faults.failed(Self.save(3), Self.full)
        faults.failed(Self.save(4), Self.full)
        faults.succeeded(.beat, .alive(members: ["a"]))
        faults.succeeded(.renew(partition: 3, 1), .renewed)
        #expect(faults.first == Self.full)
        faults.succeeded(Self.save(4), .saved)
        #expect(faults.first == nil)
    }

    @Test("a partition's own fault stands while others are well, and ends with its mending or with its ownership")
    func partition() {
        for end in [
            (Self.save(3), .saved), (.renew(partition: 3, 1), .lost),
            (.claim(partition: 3), .held(byMember: "b", forMilliseconds: 1)),
        ]
            as [(StoreRequest, StoreAnswer)]
        {
            var faults = StandingFaults()
            faults.failed(Self.save(3), Self.type)
            faults.succeeded(Self.save(4), .saved)
            faults.succeeded(.renew(partition: 3, 1), .renewed)
            #expect(faults.first == Self.type)
            faults.succeeded(end.0, end.1)
            #expect(faults.first == nil)
        }
    }

    @Test("whoever answers is there")
    func unavailable() {
        var faults = StandingFaults()
        for partition in 0..<8 as Range<Int32> { faults.failed(.renew(partition: partition, 1), Self.gone) }
        faults.failed(Self.save(7), Self.type)
        #expect(faults.first == Self.gone)
        faults.succeeded(.beat, .alive(members: ["a"]))
        #expect(faults.first == Self.type)
    }
}
