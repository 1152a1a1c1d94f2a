import Testing

@testable import FaultSimulation

@Suite("Crashes between effects")
struct CrashCoverageTests {
    @Test("pairs that followed each other are told from those between which somebody died")
    func counts() {
        var coverage = CrashCoverage()
        coverage.pass(after: .applied, before: .saveMade, dies: false)
        coverage.pass(after: .saveMade, before: .left, dies: true)
        var other = CrashCoverage()
        other.pass(after: .applied, before: .saveMade, dies: true)
        #expect(coverage.pairsMet == 2)
        #expect(coverage.pairsCrashed == 1)
        coverage.add(other)
        #expect(coverage.pairsCrashed == 2)
        #expect(coverage[after: .applied, before: .saveMade] == 1)
        #expect(coverage.passages(after: .applied, before: .saveMade) == 2)
        #expect(coverage.lines.count == Effect.allCases.count + 2)
    }
}
