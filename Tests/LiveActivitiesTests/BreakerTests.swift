import LiveActivities
import Testing

@Suite("The breaker of a pool")
struct BreakerTests {
    /// Half of the range: intervals of exactly 5, 10, 20 … s.
    private let middle = UInt64.max / 2 + 1

    @discardableResult
    private func record(
        _ breaker: inout Breaker, _ evidence: Breaker.Evidence, _ permit: Breaker.Permit = .free, at now: Int64 = 0,
        least: Int64 = 0
    ) -> Breaker.Change? {
        breaker.record(
            evidence, permit: permit, atMilliseconds: now, random: middle, leastPauseMilliseconds: least)
    }

    private func openBreaker() -> Breaker {
        var breaker = Breaker()
        for _ in 0..<5 { record(&breaker, .sickServer) }
        return breaker
    }

    @Test("one 5xx among many acceptances is that push's alone")
    func fewErrors() {
        var breaker = Breaker()
        for index in 0..<1_000 {
            #expect(record(&breaker, index % 3 == 0 ? .sickServer : .accepted, at: Int64(index)) == nil)
        }
        #expect(breaker.state == .closed)
    }

    @Test("five in a row open it, four do not")
    func opens() {
        var breaker = Breaker()
        for _ in 0..<4 { #expect(record(&breaker, .sickServer, at: 100) == nil) }
        #expect(breaker.permit(atMilliseconds: 100) == .free)
        #expect(record(&breaker, .sickServer, at: 100) == .opened(.server))
        #expect(breaker.state == .open(.server, probeAtMilliseconds: 5_100))
        #expect(breaker.permit(atMilliseconds: 5_099) == nil)
    }

    @Test("half of the last 32 answers open it after a good time")
    func opensByShare() {
        var breaker = Breaker()
        for _ in 0..<1_000 { record(&breaker, .healthy) }
        for _ in 0..<15 { #expect(record(&breaker, .sickServer) == nil) }
        #expect(record(&breaker, .sickServer) == .opened(.server))
    }

    @Test("errors that lie far apart do not add up")
    func forgets() {
        var breaker = Breaker()
        for index in 0..<20 { #expect(record(&breaker, .sickServer, at: Int64(index) * 300_000) == nil) }
    }

    @Test("single probes leave at 5, 10, 20 … s, never more than 15 minutes apart")
    func probes() {
        var breaker = openBreaker()
        var now: Int64 = 0
        for seconds in [5, 10, 20, 40, 80, 160, 320, 640, 900, 900] {
            let due = now + Int64(seconds) * 1_000
            #expect(breaker.nextProbeMilliseconds == due)
            #expect(!breaker.permits(atMilliseconds: due - 1))
            #expect(breaker.permits(atMilliseconds: due))
            #expect(breaker.permit(atMilliseconds: due) == .probe)
            #expect(breaker.permit(atMilliseconds: due) == nil)
            #expect(breaker.nextProbeMilliseconds == nil)
            now = due
            record(&breaker, .sickServer, .probe, at: now)
        }
    }

    @Test("intervals vary by a fifth either way, with the randomness given, and keep to the longest")
    func jitter() {
        for (random, milliseconds) in [(UInt64(0), Int64(4_000)), (.max, 6_000)] {
            var breaker = Breaker()
            for _ in 0..<5 { _ = breaker.record(.sickServer, permit: .free, atMilliseconds: 0, random: random) }
            #expect(breaker.nextProbeMilliseconds == milliseconds)
        }
        var breaker = openBreaker()
        var now: Int64 = 0
        for _ in 0..<20 {
            now = breaker.nextProbeMilliseconds!
            _ = breaker.permit(atMilliseconds: now)
            _ = breaker.record(.sickServer, permit: .probe, atMilliseconds: now, random: .max)
        }
        #expect(breaker.nextProbeMilliseconds == now + 900_000)
    }

    @Test("the first 200 closes it, and it forgets")
    func closes() {
        var breaker = openBreaker()
        #expect(breaker.permit(atMilliseconds: 5_000) == .probe)
        #expect(record(&breaker, .accepted, .probe, at: 5_040) == .closed)
        #expect(breaker.permit(atMilliseconds: 5_040) == .free)
        for _ in 0..<4 { #expect(record(&breaker, .sickServer, at: 5_050) == nil) }
    }

    @Test("a late 200 of a push that left before closes it too; other late answers change nothing")
    func lateAnswers() {
        var breaker = openBreaker()
        let open = breaker.state
        for evidence in [Breaker.Evidence.sickServer, .lostConnection, .healthy, .none] {
            #expect(record(&breaker, evidence, at: 1_000) == nil)
            #expect(breaker.state == open)
        }
        #expect(record(&breaker, .accepted, at: 1_000) == .closed)
    }

    @Test("a probe that a healthy server refused is followed by the next at once")
    func healthyProbe() {
        var breaker = openBreaker()
        #expect(breaker.permit(atMilliseconds: 5_000) == .probe)
        #expect(record(&breaker, .healthy, .probe, at: 5_010) == nil)
        #expect(breaker.permit(atMilliseconds: 5_010) == .probe)
    }

    @Test("an answer of a healthy server lets the intervals grow from the beginning again")
    func healthyProbeForgets() {
        var breaker = openBreaker()
        for _ in 0..<6 {
            let due = breaker.nextProbeMilliseconds!
            _ = breaker.permit(atMilliseconds: due)
            record(&breaker, .sickServer, .probe, at: due)
        }
        let due = breaker.nextProbeMilliseconds!
        _ = breaker.permit(atMilliseconds: due)
        record(&breaker, .healthy, .probe, at: due)
        #expect(breaker.permit(atMilliseconds: due) == .probe)
        record(&breaker, .sickServer, .probe, at: due)
        #expect(breaker.nextProbeMilliseconds == due + 10_000)
    }

    @Test("a probe that never left does not use up its turn")
    func unsentProbe() {
        var breaker = openBreaker()
        #expect(breaker.permit(atMilliseconds: 5_000) == .probe)
        record(&breaker, .none, .probe, at: 5_000)
        #expect(breaker.permit(atMilliseconds: 5_000) == .probe)
    }

    @Test("a lost connection counts once, with however many pushes it went")
    func lostConnections() {
        var breaker = Breaker()
        for loss in 0..<4 {
            for push in 0..<500 {
                #expect(record(&breaker, .lostConnection, at: Int64(loss) * 2_000 + Int64(push)) == nil)
            }
        }
        #expect(record(&breaker, .lostConnection, at: 8_000) == .opened(.server))
    }

    @Test("a sick credential opens it at once, and its probes reach 20 minutes")
    func credential() {
        var breaker = Breaker()
        for _ in 0..<100 { record(&breaker, .accepted) }
        #expect(record(&breaker, .sickCredential) == .opened(.credential))
        var now: Int64 = 0
        for _ in 0..<20 {
            now = breaker.nextProbeMilliseconds!
            #expect(breaker.permit(atMilliseconds: now) == .probe)
            record(&breaker, .sickCredential, .probe, at: now)
        }
        #expect(breaker.state == .open(.credential, probeAtMilliseconds: now + 1_200_000))
    }

    @Test("a credential fault under a server fault is told")
    func credentialWhileOpen() {
        var breaker = openBreaker()
        #expect(record(&breaker, .sickCredential, at: 10) == .opened(.credential))
        #expect(breaker.state == .open(.credential, probeAtMilliseconds: 5_000))
        #expect(record(&breaker, .sickCredential, at: 20) == nil)
    }

    @Test("retry-after is a lower bound of the pause")
    func leastPause() {
        var breaker = Breaker()
        for _ in 0..<4 { record(&breaker, .sickServer) }
        record(&breaker, .sickServer, least: 37_000)
        #expect(breaker.nextProbeMilliseconds == 37_000)
    }

    @Test("refused tokens open it at once, and probes grow to 20 minutes until one is accepted")
    func refusedTokens() {
        var breaker = Breaker()
        #expect(record(&breaker, .refusedTokens) == .opened(.tokens))
        #expect(breaker.cause == .tokens)
        var now: Int64 = 0
        var gaps: [Int64] = []
        for _ in 0..<10 {
            guard let probeAt = breaker.nextProbeMilliseconds else { return #expect(Bool(false), "\(breaker.state)") }
            gaps.append((probeAt - now) / 1_000)
            now = probeAt
            let permit = breaker.permit(atMilliseconds: now)
            #expect(permit == .probe)
            #expect(record(&breaker, .refusedTokens, .probe, at: now) == nil)
        }
        #expect(gaps == [5, 10, 20, 40, 80, 160, 320, 640, 1_200, 1_200])
        #expect(record(&breaker, .accepted, at: now) == .closed)
        #expect(breaker.cause == nil)
    }

    @Test("a probe of a sick credential that is taken, and its token refused with all others, changes the cause")
    func causeChanges() {
        var breaker = Breaker()
        record(&breaker, .sickCredential)
        let permit = breaker.permit(atMilliseconds: 5_000)
        #expect(permit == .probe)
        #expect(record(&breaker, .refusedTokens, .probe, at: 5_000) == .opened(.tokens))
        #expect(breaker.cause == .tokens)
    }

    @Test("what stood in the way is gone: the probe goes now; a sick server is left alone")
    func hasten() {
        var breaker = Breaker()
        var isChanged = breaker.hasten(atMilliseconds: 0)
        #expect(!isChanged)
        record(&breaker, .sickCredential)
        isChanged = breaker.hasten(atMilliseconds: 1)
        #expect(isChanged)
        let permit = breaker.permit(atMilliseconds: 1)
        #expect(permit == .probe)
        isChanged = breaker.hasten(atMilliseconds: 2)
        #expect(!isChanged)
        var sick = openBreaker()
        isChanged = sick.hasten(atMilliseconds: 1)
        #expect(!isChanged)
    }
}
