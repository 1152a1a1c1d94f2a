import Testing

@testable import FaultSimulation

@Suite("Invented worlds")
struct SimulationTests {
    static let seeds: ClosedRange<UInt64> = 1...1_000

    /// Few, for this build is slow: `make test` has the release build judge thousands.
    @Test("no seed breaks a promise")
    func cleanSeeds() {
        let campaign = Campaign.run(1...150)
        for failure in campaign.failures { Issue.record("\(failure)") }
        #expect(campaign.failureCount == 0)
        #expect(campaign.seeds == 150)
        for line in campaign.summary { print(line) }
    }

    @Test("what a campaign never met is named, and a long one leaves nothing out that it is to meet")
    func gaps() {
        let none = Campaign().gaps
        #expect(none.contains("nobody died between \(Effect.handed.name) and \(Effect.left.name)"))
        #expect(none.contains("\(Fault.refused.name) never met \(Situation.ending.name)"))
        let some = Campaign.run(1...20).gaps
        #expect(some.count < none.count)
        #expect(Set(some).isSubset(of: none))
    }

    @Test("a seed replays exactly, and another one is another world")
    func replays() {
        var hashes: Set<UInt64> = []
        for seed in UInt64(1)...20 {
            let run = Simulation.run(seed: seed)
            let again = Simulation.run(seed: seed)
            #expect(run.traceHash == again.traceHash, "seed \(seed)")
            #expect(run.coverage == again.coverage, "seed \(seed)")
            hashes.insert(run.traceHash)
        }
        #expect(hashes.count == 20)
    }

    #if PLANTED_DEFECTS
        @Test("a planted defect is found within a thousand seeds, as what it is", arguments: PlantedDefectCase.all)
        func findsDefect(_ planted: PlantedDefectCase) throws {
            let campaign = Campaign.run(
                SimulationTests.seeds, defect: planted.name, untilFailure: true)
            let failure = try #require(campaign.failures.first, "\(planted.name) was not found")
            #expect(planted.promises.contains(failure.promise), "\(failure)")
            #expect(failure.defect == planted.name)
        }

        @Test("a failing seed names itself, the promise, the activity and its history, and fails again alike")
        func failureExplainsItself() throws {
            let campaign = Campaign.run(1...100, defect: "timestamp-twice", untilFailure: true)
            let failure = try #require(campaign.failures.first)
            let text = failure.description
            #expect(text.contains("seed \(failure.seed) with timestamp-twice planted"))
            #expect(text.contains(failure.promise.text))
            #expect(text.contains("--from \(failure.seed) --defect timestamp-twice"))
            #expect(failure.trace.contains { $0.contains("leaves:") })
            let again = try #require(Simulation.run(seed: failure.seed, defect: "timestamp-twice").failure)
            #expect(again.description == text)
        }

        @Test("all defects can be named")
        func names() {
            #expect(Set(Simulation.defects).isSuperset(of: PlantedDefectCase.all.map(\.name)))
        }
    #endif
}

/// A defect, and the promises that it was seen to break first: which one it is moves with the worlds.
struct PlantedDefectCase: Sendable, CustomStringConvertible {
    let name: String
    let promises: [FaultSimulation.Promise]

    var description: String { name }

    static let all = [
        PlantedDefectCase(name: "sequence-reused", promises: [.sequenceRises]),
        PlantedDefectCase(name: "shown-before-accepted", promises: [.newestStateIsTold]),
        PlantedDefectCase(name: "bucket-full-after-urgent", promises: [.cadenceHolds]),
        PlantedDefectCase(name: "end-overtakes", promises: [.oneInFlight]),
        PlantedDefectCase(name: "timestamp-twice", promises: [.timestampsRise]),
        PlantedDefectCase(name: "superseded-sent", promises: [.supersededIsNotSent]),
        PlantedDefectCase(
            name: "pending-end-not-written", promises: [.newestStateIsTold, .alertIsTold, .storeIsBounded]),
        PlantedDefectCase(name: "tombstone-lost", promises: [.storeIsBounded, .nothingAfterEnd]),
        PlantedDefectCase(name: "bucket-lost", promises: [.cadenceHolds]),
        PlantedDefectCase(name: "dispatch-not-fenced", promises: [.oneOwnerSends]),
        PlantedDefectCase(
            name: "commit-ahead-of-settle", promises: [.newestStateIsTold, .newestLeaves, .nothingAfterEnd]),
        PlantedDefectCase(name: "cursor-before-checkpoint", promises: [.newestLeaves, .newestStateIsTold]),
        PlantedDefectCase(name: "bound-not-persisted", promises: [.sequenceRises]),
        PlantedDefectCase(name: "intent-not-written", promises: [.oneCard]),
        PlantedDefectCase(name: "store-unfenced", promises: [.oneOwnerWrites]),
        PlantedDefectCase(name: "commit-unfenced", promises: [.oneOwnerWrites]),
        PlantedDefectCase(name: "group-commit-ahead-of-store", promises: [.groupFollowsStore]),
        PlantedDefectCase(name: "start-uncounted", promises: [.budgetHolds]),
        PlantedDefectCase(
            name: "older-token-wins", promises: [.newestStateIsTold, .alertIsTold, .newestToken, .settles]),
        PlantedDefectCase(name: "replaced-goes-on", promises: [.newestLeaves, .newestStateIsTold, .nothingAfterEnd]),
        PlantedDefectCase(name: "revocation-unheeded", promises: [.letsGo, .everyPartitionIsRead]),
        PlantedDefectCase(name: "held-is-given-up", promises: [.everyPartitionIsRead]),
    ]
}
