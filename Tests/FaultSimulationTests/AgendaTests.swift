import Testing

@testable import FaultSimulation

@Suite("The order of things")
struct AgendaTests {
    @Test("by time, and at one instant as planned")
    func order() {
        var agenda = Agenda()
        for (index, time) in [50, 10, 30, 10, 50, 20, 10].enumerated() {
            agenda.plan(.script(index), atMilliseconds: Int64(time))
        }
        var seen: [Int] = []
        while let action = agenda.next() {
            if case .script(let index) = action { seen.append(index) }
        }
        #expect(seen == [1, 3, 6, 5, 2, 0, 4])
        #expect(agenda.isEmpty)
    }
}

@Suite("Coverage")
struct CoverageTests {
    @Test("sums and prints a row a fault")
    func table() {
        var coverage = Coverage()
        coverage[.gone, .inFlight] += 2
        var other = Coverage()
        other[.gone, .ending] += 1
        coverage.add(other)
        #expect(coverage[.gone] == 3)
        #expect(coverage.lines.count == Fault.allCases.count + 1)
        let row = coverage.lines.first { $0.hasPrefix("gone ") }
        #expect(row?.split(separator: " ") == ["gone", ".", ".", "2", ".", ".", ".", "1", ".", "3"])
    }
}
