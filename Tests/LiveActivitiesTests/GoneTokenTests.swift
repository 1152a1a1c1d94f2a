import LiveActivities
import Testing

@Suite("A 410 and the token on file")
struct GoneTokenTests {
    @Test(
        "is judged by the time of registration, then by whether it is the same token",
        arguments: [
            (registered: Int64(1_000), gone: Int64(2_000) as Int64?, sameToken: true, forgets: true),
            (2_000, 2_000, true, true),
            (2_001, 2_000, true, false),
            (1_000, 2_000, false, false),
            (1_000, nil, true, true),
            (1_000, nil, false, false),
        ])
    func truthTable(row: (registered: Int64, gone: Int64?, sameToken: Bool, forgets: Bool)) {
        let forgets = GoneToken.mayBeForgotten(
            registeredAtMilliseconds: row.registered, goneAtMilliseconds: row.gone, isStillOnFile: row.sameToken,
            wasSentAtMilliseconds: 1_500)
        #expect(forgets == row.forgets)
    }

    @Test("without a time, a token reported anew after the request left is kept")
    func reportedAfterSending() {
        #expect(
            !GoneToken.mayBeForgotten(
                registeredAtMilliseconds: 1_501, goneAtMilliseconds: nil, isStillOnFile: true,
                wasSentAtMilliseconds: 1_500))
    }
}
