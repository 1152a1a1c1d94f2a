import Flow
import Pacing
import Testing

@testable import FaultSimulation

@Suite("The store that members share")
struct SharedStoreTests {
    var store = SharedStore(partitions: 1, sources: 1, leaseMilliseconds: 10_000)

    private mutating func claim(_ member: String, at now: Int64) -> Epoch? {
        guard case .claimed(let claim) = store.answer(.claim(partition: 0), from: member, atMilliseconds: now) else {
            return nil
        }
        return claim.epoch
    }

    private mutating func save(_ member: String, _ epoch: Epoch, to offset: Int64, serial: UInt64) -> StoreAnswer {
        let batch = CheckpointBatch(
            bytes: [], entries: [], positions: [SettledPosition(offset: offset, records: offset)], serial: serial)
        return store.answer(.save(partition: 0, epoch, batch), from: member, atMilliseconds: 0)
    }

    private var offset: Int64? { store.partitions[0].positions[0]?.offset }

    @Test("a lease keeps others out until it ends, and each claim has a higher epoch")
    mutating func leases() {
        #expect(claim("a", at: 0) == 1)
        #expect(claim("b", at: 9_999) == nil)
        #expect(claim("b", at: 10_000) == 2)
        #expect(claim("b", at: 10_001) == 3)
    }

    @Test("an owner that was replaced writes nothing")
    mutating func fences() throws {
        let old = try #require(claim("a", at: 0))
        #expect(save("a", old, to: 5, serial: 1).summary == "saved")
        let new = try #require(claim("b", at: 10_000))
        #expect(save("a", old, to: 9, serial: 2).summary == "lost")
        #expect(offset == 5)
        #expect(save("b", new, to: 6, serial: 1).summary == "saved")
        #expect(offset == 6)
    }

    @Test("a batch that was held up undoes nothing")
    mutating func serials() throws {
        let epoch = try #require(claim("a", at: 0))
        _ = save("a", epoch, to: 8, serial: 2)
        #expect(save("a", epoch, to: 5, serial: 1).summary == "saved")
        #expect(offset == 8)
    }
}
