import Testing

@testable import FaultSimulation

@Suite("The coordinator that spreads partitions over members")
struct GroupCoordinatorTests {
    private func coordinator(partitions: Int = 4, isEager: Bool = false) -> GroupCoordinator {
        GroupCoordinator(
            partitions: partitions, sources: 1, isEager: isEager, sessionMilliseconds: 10_000,
            releaseMilliseconds: 5_000)
    }

    /// What members are told, in few words.
    private func told(_ coordinator: inout GroupCoordinator, at now: Int64) -> [String] {
        coordinator.advance(toMilliseconds: now).map { node, message in
            switch message {
            case .assigned(let partitions): "\(node)+\(partitions)"
            case .revoked(let partitions): "\(node)-\(partitions)"
            case .lost: "\(node) lost"
            }
        }
    }

    private func expect(
        _ coordinator: inout GroupCoordinator, at now: Int64, _ messages: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let found = told(&coordinator, at: now)
        #expect(found == messages, sourceLocation: sourceLocation)
    }

    /// They say that they live; node n has the membership 10 + n.
    private func expect(
        _ coordinator: inout GroupCoordinator, _ nodes: Int..., areKnown: Bool, at now: Int64,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for node in nodes {
            let isKnown = coordinator.hear(node, UInt64(10 + node), atMilliseconds: now)
            #expect(isKnown == areKnown, "node \(node)", sourceLocation: sourceLocation)
        }
    }

    @Test("in rounds in which only what moves is taken, and given once it is free")
    func cooperative() {
        var group = coordinator()
        group.join(0, 10, atMilliseconds: 0)
        expect(&group, at: 0, ["0+[0, 1, 2, 3]"])
        group.join(1, 11, atMilliseconds: 100)
        // Everybody joins anew: nothing happens before all were heard.
        expect(&group, at: 200, [])
        expect(&group, 0, areKnown: true, at: 300)
        expect(&group, at: 300, ["0+[]", "0-[2, 3]", "1+[]"])
        expect(&group, at: 400, [])
        group.release(0, 10, [2, 3], atMilliseconds: 500)
        expect(&group, 0, 1, areKnown: true, at: 500)
        expect(&group, at: 500, ["0+[]", "1+[2, 3]"])
        #expect(group.generation == 3)
    }

    @Test("in rounds in which all is taken first")
    func eager() {
        var group = coordinator(isEager: true)
        group.join(0, 10, atMilliseconds: 0)
        expect(&group, at: 0, ["0+[0, 1, 2, 3]"])
        group.join(1, 11, atMilliseconds: 100)
        expect(&group, 0, areKnown: true, at: 200)
        expect(&group, at: 200, ["0-[0, 1, 2, 3]"])
        group.release(0, 10, [0, 1, 2, 3], atMilliseconds: 300)
        expect(&group, at: 300, ["0+[0, 1]", "1+[2, 3]"])
    }

    @Test("takes who says nothing for a session for gone, and gives others what he had")
    func expires() {
        var group = coordinator(partitions: 2)
        group.join(0, 10, atMilliseconds: 0)
        group.join(1, 11, atMilliseconds: 0)
        expect(&group, at: 0, ["0+[1]", "1+[0]"])
        expect(&group, 1, areKnown: true, at: 10_001)
        // Called anew, the one who lives joins once more.
        expect(&group, at: 10_001, ["1+[1]"])
        expect(&group, 0, areKnown: false, at: 10_002)
    }

    @Test("throws out who does not let go in time")
    func overdue() {
        var group = coordinator(partitions: 2)
        group.join(0, 10, atMilliseconds: 0)
        expect(&group, at: 0, ["0+[0, 1]"])
        group.join(1, 11, atMilliseconds: 0)
        expect(&group, at: 0, ["0+[]", "0-[1]", "1+[]"])
        for now in [2_000, 4_999, 5_000] as [Int64] {
            expect(&group, 0, 1, areKnown: true, at: now)
            expect(&group, at: now, (now < 5_000 ? [] : ["1+[0, 1]"]))
        }
        expect(&group, 0, areKnown: false, at: 5_001)
    }

    @Test("takes positions of members of its newest round alone")
    func commits() {
        var group = coordinator()
        group.join(0, 10, atMilliseconds: 0)
        _ = group.advance(toMilliseconds: 0)
        #expect(group.takesCommits(of: 0, 10, generation: 1))
        #expect(!group.takesCommits(of: 0, 9, generation: 1))
        #expect(!group.takesCommits(of: 1, 10, generation: 1))
        group.join(1, 11, atMilliseconds: 0)
        _ = group.advance(toMilliseconds: 0)
        #expect(!group.takesCommits(of: 0, 10, generation: 1))
        #expect(group.takesCommits(of: 0, 10, generation: 2))
    }

    @Test("blames nobody for the time in which it was away itself")
    func away() {
        var group = coordinator()
        group.join(0, 10, atMilliseconds: 0)
        _ = group.advance(toMilliseconds: 0)
        group.comeBack(atMilliseconds: 60_000)
        expect(&group, at: 60_000, [])
        expect(&group, 0, areKnown: true, at: 60_000)
    }
}
