import Testing

@testable import RedisClient

@Suite struct SlotOrderTests {
    private let slot = HashSlot(of: "rides:{7}")
    private let old = RedisAddress("10.0.0.1", 7_000)
    private let new = RedisAddress("10.0.0.2", 7_000)

    @Test func aSlotThatMovesWaitsForItsOldNode() {
        var order = SlotOrder()
        order.sent(slot, to: old)
        order.sent(slot, to: old)
        #expect(order.allows(slot, at: old))
        #expect(!order.allows(slot, at: new))
        // The first has been sent on; the second may be yet.
        let isFirstTheLast = order.ended(slot)
        #expect(!isFirstTheLast)
        #expect(!order.allows(slot, at: new))
        let isSecondTheLast = order.ended(slot)
        #expect(isSecondTheLast)
        #expect(order.allows(slot, at: new))
        order.sent(slot, to: new)
        #expect(!order.allows(slot, at: old))
    }

    @Test func otherSlotsAndCommandsWithoutKeysDoNotWait() {
        var order = SlotOrder()
        order.sent(slot, to: old)
        #expect(order.allows(HashSlot(of: "rides:{8}"), at: new))
        order.sent(nil, to: old)
        #expect(order.allows(nil, at: new))
        let freesSlot = order.ended(nil)
        #expect(!freesSlot)
    }
}
