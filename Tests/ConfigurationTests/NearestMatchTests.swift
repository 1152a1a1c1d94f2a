import Testing

@testable import Configuration

@Suite struct NearestMatchTests {
    @Test(arguments: [
        ("minIntervall", "minInterval"), ("mininterval", "minInterval"), ("inMinterval", "minInterval"),
        ("renw", "renew"),
    ])
    func aMisspellingFindsItsWord(_ word: String, _ meant: String) {
        #expect(NearestMatch.of(word, in: ["minInterval", "maxAge", "renew", "refresh"]) == meant)
    }

    @Test func aStrangerFindsNone() {
        #expect(NearestMatch.of("colour", in: ["minInterval", "maxAge", "renew"]) == nil)
        #expect(NearestMatch.of("", in: ["renew"]) == nil)
        #expect(NearestMatch.of("x", in: []) == nil)
        #expect(NearestMatch.of(String(repeating: "renew", count: 1000), in: ["renew"]) == nil)
    }

    @Test func aSharedSectionMakesNoTwoNamesAlike() {
        let paths = [(section: "pacing.", name: "renew"), ("pacing.", "minInterval"), ("log.", "level")]
        #expect(NearestMatch.of("pacing.minIntervall", inSections: paths) == "pacing.minInterval")
        #expect(NearestMatch.of("pacng.renew", inSections: paths) == "pacing.renew")
        #expect(NearestMatch.of("pacing.colour", inSections: paths) == nil)
        #expect(NearestMatch.of("pacing.", inSections: paths) == nil)
    }

    @Test func aSwapOfNeighboursIsOneStep() {
        #expect(NearestMatch.distance(Array("ab".utf8), Array("ba".utf8)) == 1)
        #expect(NearestMatch.distance(Array("kitten".utf8), Array("sitting".utf8)) == 3)
        #expect(NearestMatch.distance([], Array("abc".utf8)) == 3)
        #expect(NearestMatch.distance(Array("abc".utf8), []) == 3)
    }
}
