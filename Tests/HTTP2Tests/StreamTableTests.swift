import Testing

@testable import HTTP2

@Suite struct StreamTableTests {
    @Test(arguments: 1...5) func findsWhatADictionaryFinds(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let table = StreamTable(capacity: 4)
        var oracle: [Int32: Int32] = [:]
        var newest: Int32 = 1
        for step in 0..<20_000 {
            // Grows to a thousand open streams and shrinks again; old ones stay while new ones come and go.
            if Int.random(in: 0..<100, using: &random) < (step / 5_000 % 2 == 0 ? 60 : 45) {
                table.insert(newest, slot: Int32(step))
                oracle[newest] = Int32(step)
                newest += 2
            } else if let streamID = oracle.keys.randomElement(using: &random) {
                table.remove(streamID)
                oracle[streamID] = nil
            }
            let probe = Int32.random(in: 0..<newest, using: &random)
            #expect(table.slot(of: probe | 1) == oracle[probe | 1], "seed \(seed), step \(step)")
        }
        #expect(table.count == oracle.count)
        for (streamID, slot) in oracle { #expect(table.slot(of: streamID) == slot) }
    }

    @Test func idsAtTheEndOfTheirRangeHaveAPlace() {
        let table = StreamTable()
        table.insert(.max, slot: 7)
        table.remove(.max - 2)
        #expect(table.slot(of: .max) == 7)
        #expect(table.slot(of: 1) == nil)
        table.remove(.max)
        #expect(table.slot(of: .max) == nil)
    }
}

@Suite struct SlotQueueTests {
    @Test func keepsTheOrderWhoeverLeaves() {
        let slots = StreamSlots()
        let queue = SlotQueue(slots)
        let taken = (0..<100).map { _ in slots.take() }
        for slot in taken { queue.append(slot) }
        for slot in [taken[0], taken[99], taken[50], taken[51], taken[1]] { queue.remove(slot) }
        queue.append(taken[50])
        var left: [Int32] = []
        while let slot = queue.first {
            left.append(slot.pointee.index)
            queue.remove(slot)
        }
        #expect(left == ((2..<50).map { taken[$0] } + (52..<99).map { taken[$0] } + [taken[50]]).map(\.pointee.index))
    }
}
