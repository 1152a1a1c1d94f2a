import Testing

@testable import Delivery

@Suite("The provider's date, as a cheap look at our clock")
struct HTTPDateTests {
    private func seconds(_ text: String) -> Int64? {
        Array(text.utf8).withUnsafeBytes { HTTPDate.unixSeconds($0) }
    }

    @Test(
        "Dates of RFC 9110",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Sun, 29 Nov 2026 12:00:00 GMT", 1_795_953_600), ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
            ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200), ("Fri, 31 Dec 1999 23:59:60 GMT", 946_684_800),
        ] as [(String, Int64)])
    func good(text: String, expected: Int64) { #expect(seconds(text) == expected) }

    @Test(
        "Anything else is none",
        arguments: [
            "", "now", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:3x GMT", "Sun, 06 Nov 1994 08-49-37 GMT",
        ])
    func bad(text: String) { #expect(seconds(text) == nil) }

    @Test("A clock that is minutes ahead is told, one that is right is not", arguments: [0, 300])
    func ahead(seconds: Int64) throws {
        // What the bench's clock says, as a date; an hour is added to it or not.
        let provider = try ScriptedProvider { request, _, _ in
            _ = request.respond(status: 200, fields: [("date", "Sun, 29 Nov 2026 12:00:00 GMT")])
        }
        let bench = try provider.bench()
        bench.time.stepWall(seconds: 1_795_953_600 + seconds - bench.time.clock.unixSeconds())
        bench.waitForStreams(1)
        #expect(bench.ending(1) == ["200"])
        #expect(bench.registry.snapshot().number("waypulse_provider_clock_ahead_seconds") == seconds)
        #expect(bench.lines.contains("this machine's clock and the provider's differ") == (seconds != 0))
    }
}
