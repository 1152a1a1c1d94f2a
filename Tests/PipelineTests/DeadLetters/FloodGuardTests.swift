import Testing

@testable import Pipeline

@Suite("The guard against a flood of dead letters")
struct FloodGuardTests {
    private func guardian(_ change: (inout FloodGuard.Settings) -> Void = { _ in }) -> FloodGuard {
        var settings = FloodGuard.Settings()
        (settings.maxRatio, settings.minCount, settings.windowMilliseconds) = (0.5, 100, 60_000)
        change(&settings)
        return FloodGuard(settings)
    }

    @Test("trips when more than that share of a window is bad")
    func trips() {
        var flood = guardian()
        flood.note(records: 400, letters: 0, nowMilliseconds: 1_000)
        flood.note(records: 0, letters: 200, nowMilliseconds: 2_000)
        #expect(flood.tripped == nil)
        flood.note(records: 0, letters: 1, nowMilliseconds: 2_000)
        #expect(flood.tripped?.letters == 201)
        #expect(flood.tripped?.records == 400)
    }

    @Test("lets a few bad ones pass where little comes, all of them bad as they may be")
    func fewBad() {
        var flood = guardian()
        for second in 0..<3_600 {
            flood.note(records: 1, letters: 1, nowMilliseconds: Int64(second) * 1_000)
            #expect(flood.tripped == nil)
        }
    }

    @Test("forgets what lies behind the window, also after a long silence")
    func window() {
        var flood = guardian()
        flood.note(records: 99, letters: 99, nowMilliseconds: 0)
        flood.note(records: 99, letters: 99, nowMilliseconds: 60_000)
        #expect(flood.tripped == nil)
        flood.note(records: 99, letters: 99, nowMilliseconds: 7_200_000)
        #expect(flood.tripped == nil)
        flood.note(records: 1, letters: 1, nowMilliseconds: 7_259_000)
        #expect(flood.tripped != nil)
    }

    @Test("weighs good records of the whole window, and stays tripped")
    func good() {
        var flood = guardian()
        flood.note(records: 1_000, letters: 0, nowMilliseconds: 0)
        flood.note(records: 400, letters: 400, nowMilliseconds: 50_000)
        #expect(flood.tripped == nil)
        flood.note(records: 400, letters: 400, nowMilliseconds: 70_000)
        #expect(flood.tripped?.letters == 800)
        flood.note(records: 1_000_000, letters: 0, nowMilliseconds: 80_000)
        #expect(flood.tripped != nil)
    }

    @Test("never trips at a ratio of 1, and at once at 0")
    func ends() {
        var never = guardian { $0.maxRatio = 1 }
        never.note(records: 5_000, letters: 5_000, nowMilliseconds: 0)
        #expect(never.tripped == nil)
        var atOnce = guardian { ($0.maxRatio, $0.minCount) = (0, 1) }
        atOnce.note(records: 1_000, letters: 1, nowMilliseconds: 0)
        #expect(atOnce.tripped != nil)
    }
}
