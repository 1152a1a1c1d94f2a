import Flow
import LiveActivities
import PushSimulator
import Testing

@testable import Delivery

@Suite(
    "A credential that the provider refuses: everything of it waits, an alarm tells, no token is to blame, and no loop begins"
)
struct CredentialFaultTests {
    private static let activities = (0..<20).map { "order-\($0)" }

    private func bench() throws -> LaneBench {
        let bench = try LaneBench()
        for activity in Self.activities { try bench.begin(activity) }
        for activity in Self.activities { try bench.status(activity, "before") }
        bench.settle()
        #expect(bench.fates.allSatisfy { $0 == .accepted })
        return bench
    }

    private func expectAllTold(_ bench: LaneBench, _ status: String, sourceLocation: SourceLocation = #_sourceLocation)
    {
        bench.waitForStream(sourceLocation: sourceLocation)
        bench.pass(seconds: 3_600, sourceLocation: sourceLocation)
        let stale = Self.activities.filter { bench.shown($0) != status }
        #expect(stale.isEmpty, sourceLocation: sourceLocation)
        #expect(!bench.fates.contains(.targetGone), sourceLocation: sourceLocation)
    }

    /// Statuses in the midst of it, then an hour in which nothing may be stormed.
    private func endure(_ bench: LaneBench, minutes: Int64 = 60) throws -> [JournalEntry] {
        let before = bench.simulator.journal.entries.count
        for activity in Self.activities { try bench.status(activity, "during") }
        bench.waitForStream()
        bench.settle()
        bench.pass(seconds: minutes * 60)
        return Array(bench.simulator.journal.entries.dropFirst(before))
    }

    @Test(
        "Q13: key revoked: all pushes of the credential stop, single probes excepted; no token is purged, and all is told once it is back"
    )
    func revoked() throws {
        let bench = try bench()
        bench.simulator.change { $0.isKeyRevoked = true }
        let refused = try endure(bench)
        #expect(refused.allSatisfy { $0.reason == "InvalidProviderToken" })
        #expect(bench.lane.isEveryPoolRefused)
        #expect(bench.alarms.contains(.credential))
        // What was under way, and probes that grow to 20 minutes: some ten in an hour.
        #expect(refused.count < Self.activities.count + 15)
        #expect(bench.provider.bench.instruments.credentialRenewals.total == 0)
        bench.simulator.change { $0.isKeyRevoked = false }
        expectAllTold(bench, "during")
    }

    @Test(
        "Q11: TooManyProviderTokenUpdates on the connection that stands: another one takes the same token, nothing is minted, nothing pauses"
    )
    func updatesOnOneConnection() throws {
        let bench = try bench()
        bench.simulator.change { $0.refusedTokenUpdates = .standing }
        bench.run(until: { bench.simulator.hasObeyed })
        let answers = try endure(bench, minutes: 5)
        #expect(answers.contains { $0.reason == "TooManyProviderTokenUpdates" })
        #expect(Self.activities.allSatisfy { bench.shown($0) == "during" })
        #expect(try bench.provider.bench.providerToken.bearer().generation == 1)
    }

    @Test("Q11: on all connections: the credential pauses with growing delays, still nothing is minted")
    func updatesOnAll() throws {
        let bench = try bench()
        bench.simulator.change { $0.refusedTokenUpdates = .all }
        let refused = try endure(bench)
        #expect(refused.allSatisfy { $0.reason == "TooManyProviderTokenUpdates" })
        #expect(bench.lane.isEveryPoolRefused)
        #expect(refused.count < 2 * Self.activities.count + 15)
        #expect(try bench.provider.bench.providerToken.bearer().generation == 1)
        bench.simulator.change { $0.refusedTokenUpdates = .none }
        expectAllTold(bench, "during")
    }

    @Test(
        "Q12: the provider's clock two hours off, ahead or behind: an alarm, no minting, no loop", arguments: [1, -1])
    func skew(sign: Int64) throws {
        let bench = try bench()
        bench.simulator.change { $0.clockSkewMilliseconds = sign * 7_200_000 }
        let refused = try endure(bench)
        #expect(refused.allSatisfy { $0.reason == (sign > 0 ? "ExpiredProviderToken" : "InvalidProviderToken") })
        #expect(bench.alarms.contains(sign > 0 ? .clock : .credential))
        #expect(bench.lane.isEveryPoolRefused)
        #expect(refused.count < 2 * Self.activities.count + 15)
        #expect(try bench.provider.bench.providerToken.bearer().generation == 1)
        bench.simulator.change { $0.clockSkewMilliseconds = 0 }
        expectAllTold(bench, "during")
    }

    @Test("Q10: an old token is called expired: one new token, a new connection, and every push goes once more")
    func expired() throws {
        let bench = try bench()
        bench.provider.bench.time.pass(milliseconds: 25 * 60_000)
        bench.simulator.expireProviderTokens()
        let answers = try endure(bench, minutes: 5)
        #expect(Self.activities.allSatisfy { bench.shown($0) == "during" })
        #expect(bench.provider.bench.instruments.credentialRenewals.total == 1)
        #expect(answers.count { $0.reason == "ExpiredProviderToken" } <= Self.activities.count)
        #expect(!bench.lane.isEveryPoolRefused)
    }
}
