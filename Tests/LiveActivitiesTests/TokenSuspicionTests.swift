import LiveActivities
import Testing

@Suite("Tokens that APNs calls bad")
struct TokenSuspicionTests {
    private func mark(_ verdict: TokenSuspicion.Verdict) -> TokenSuspicion.Mark? {
        if case .suspect(let mark) = verdict { mark } else { nil }
    }

    @Test("one bad token among good ones is forgotten at its second refusal, when others were accepted meanwhile")
    func oneBadToken() {
        var suspicion = TokenSuspicion()
        for _ in 0..<100 { suspicion.recordAccepted() }
        let first = mark(suspicion.recordRefused(mark: nil))
        #expect(first != nil)
        for _ in 0..<19 { suspicion.recordAccepted() }
        #expect(mark(suspicion.recordRefused(mark: first)) == first)
        suspicion.recordAccepted()
        #expect(suspicion.recordRefused(mark: first) == .forget)
        #expect(!suspicion.isAlarming)
    }

    @Test("with the wrong environment configured all are refused, time after time, and none is forgotten")
    func allRefused() {
        var suspicion = TokenSuspicion()
        for _ in 0..<10_000 { suspicion.recordAccepted() }
        var marks = [TokenSuspicion.Mark?](repeating: nil, count: 500)
        for _ in 0..<20 {
            for token in marks.indices {
                let verdict = suspicion.recordRefused(mark: marks[token])
                #expect(verdict != .forget)
                marks[token] = mark(verdict)
            }
        }
        #expect(suspicion.isAlarming)
    }

    @Test("a share of bad tokens beyond one in eight stops the forgetting and raises the alarm")
    func highShare() {
        var suspicion = TokenSuspicion()
        let first = mark(suspicion.recordRefused(mark: nil))
        for index in 0..<700 {
            if index % 7 == 0 {
                #expect(suspicion.recordRefused(mark: first) != .forget)
            } else {
                suspicion.recordAccepted()
            }
        }
        #expect(suspicion.isAlarming)
    }

    @Test("many marks of an earlier fault cannot empty the registry later: twenty acceptances to each token forgotten")
    func neverInBulk() {
        var suspicion = TokenSuspicion()
        let old = mark(suspicion.recordRefused(mark: nil))
        for _ in 0..<1_000 { suspicion.recordAccepted() }
        var forgotten = 0
        for _ in 0..<500 where suspicion.recordRefused(mark: old) == .forget { forgotten += 1 }
        #expect(forgotten == 1)
    }

    @Test(
        "five tokens refused, one after another and each for the first time, are a wave; one acceptance between, and they are none"
    )
    func wave() {
        var suspicion = TokenSuspicion()
        for _ in 0..<4 { _ = suspicion.recordRefused(mark: nil) }
        #expect(!suspicion.isWave && suspicion.isInDoubt)
        suspicion.recordAccepted()
        #expect(!suspicion.isInDoubt)
        for _ in 0..<4 { _ = suspicion.recordRefused(mark: nil) }
        #expect(!suspicion.isWave)
        _ = suspicion.recordRefused(mark: nil)
        #expect(suspicion.isWave)
        suspicion.recordAccepted()
        #expect(!suspicion.isWave)
    }

    @Test("one token that is refused again and again is no wave")
    func oneTokenIsNoWave() {
        var suspicion = TokenSuspicion()
        let first = mark(suspicion.recordRefused(mark: nil))
        for _ in 0..<100 { _ = suspicion.recordRefused(mark: first) }
        #expect(!suspicion.isWave && suspicion.isInDoubt)
    }

    @Test("acceptances end the alarm")
    func alarmEnds() {
        var suspicion = TokenSuspicion()
        for _ in 0..<64 { _ = suspicion.recordRefused(mark: nil) }
        #expect(suspicion.isAlarming)
        for _ in 0..<64 { suspicion.recordAccepted() }
        #expect(!suspicion.isAlarming)
    }
}
