import Testing

@testable import Delivery

@Suite("When a pool opens its next connection")
struct StagingTests {
    private var staging = Staging(backoff: Backoff(firstMilliseconds: 500, longestMilliseconds: 60_000))

    @Test("One that fails is followed by growing pauses")
    mutating func failures() {
        for (now, pause) in [(0, 250), (1_000, 500), (2_000, 1_000)] as [(Int64, Int64)] {
            staging.begin()
            staging.failed(atMilliseconds: now, random: 0)
            #expect(staging.state == .pausing(untilMilliseconds: now + pause))
            staging.resume()
        }
    }

    @Test("To open is no proof: the pauses of a server that accepts and closes grow as well")
    mutating func openedAndLost() {
        for pause: Int64 in [250, 500, 1_000] {
            staging.begin()
            staging.opened()
            staging.lost(atMilliseconds: 0, random: 0)
            #expect(staging.state == .pausing(untilMilliseconds: pause))
            staging.resume()
        }
    }

    @Test("One that did good is followed by the first pause again")
    mutating func good() {
        staging.begin()
        staging.failed(atMilliseconds: 0, random: 0)
        staging.resume()
        staging.begin()
        staging.opened()
        staging.didGood()
        staging.lost(atMilliseconds: 0, random: 0)
        #expect(staging.state == .pausing(untilMilliseconds: 250))
    }

    @Test("Eight that go together make one pause, and one that goes while another is on its way makes none")
    mutating func together() {
        for _ in 0..<8 { staging.lost(atMilliseconds: 100, random: 0) }
        #expect(staging.state == .pausing(untilMilliseconds: 350))
        staging.resume()
        staging.begin()
        staging.lost(atMilliseconds: 400, random: 0)
        #expect(staging.state == .opening)
    }

    @Test("A good one that is sent away ends the pause of another, and forgives it nothing")
    mutating func replacement() {
        staging.begin()
        staging.failed(atMilliseconds: 0, random: 0)
        staging.replacesGoodOne()
        #expect(staging.state == .idle)
        staging.begin()
        staging.replacesGoodOne()
        #expect(staging.state == .opening)
        staging.failed(atMilliseconds: 0, random: 0)
        #expect(staging.state == .pausing(untilMilliseconds: 500))
    }
}
