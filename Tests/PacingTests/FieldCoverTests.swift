import Telemetry
import Testing

@testable import Pacing

@Suite("Which fields an event sets again")
struct FieldCoverTests {
    private func agrees(_ set: [FieldPath], _ field: FieldPath) -> Bool {
        FieldCover(set).covers(field) == set.contains { $0.covers(field) }
    }

    @Test("Few are compared and many looked up, with one answer", arguments: [0, 1, 16, 17, 4_000])
    func oneAnswer(count: Int) {
        let set = (0..<count).map { FieldPath("a\($0).b") }
        for dotted in ["a0", "a0.b", "a0.b.c", "a16.b", "a16.b.c.d", "a3999.b", "b", "a0.bb"] {
            #expect(agrees(set, FieldPath(dotted)), "\(dotted) among \(count)")
        }
    }

    @Test("Names are told apart byte for byte, whatever Unicode calls equal")
    func byteForByte() {
        let set = (0..<20).map { FieldPath("x\($0)") } + [FieldPath("caf\u{E9}")]
        #expect(FieldCover(set).covers(FieldPath("caf\u{E9}")))
        #expect(!FieldCover(set).covers(FieldPath("cafe\u{301}")))
    }
}
