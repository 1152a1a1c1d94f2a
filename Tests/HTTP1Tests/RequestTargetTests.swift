import Testing

@testable import HTTP1

@Suite struct RequestTargetTests {
    private func target(_ text: String) throws -> RequestTarget { try RequestTarget(Array(text.utf8)) }

    @Test func segmentsAreDecodedOnceAndKeepTheirSlashes() throws {
        let target = try target("/v1/live-activities/a%2Fb%252F%20%C3%A4+/token?x=%41&y")
        #expect(target.segments == ["v1", "live-activities", "a/b%2F ä+", "token"])
        #expect(target.path == "/v1/live-activities/a/b%2F ä+/token")
        #expect(target.query == "x=%41&y")
    }

    @Test func emptySegmentsStay() throws {
        #expect(try target("/v1//token/").segments == ["v1", "", "token", ""])
        #expect(try target("/").segments == [""])
    }

    @Test func dotsAreNamesLikeAnyOther() throws {
        #expect(try target("/v1/%2E%2e/token").segments == ["v1", "..", "token"])
    }

    @Test func anAbsoluteFormIsItsPath() throws {
        #expect(try target("http://example.org:80/a/b?c").path == "/a/b")
        #expect(try target("https://example.org").path == "/")
        #expect(try target("*").path == "*")
    }

    @Test(arguments: ["/a%", "/a%2", "/a%zz", "/%00", "/a%ff", "/%c0%af", "/%ED%A0%80", "a", "", "/a\u{7F}", "/a\u{1}"])
    func whatCannotBeDecodedIsAFault(_ text: String) {
        #expect(throws: RequestTarget.Fault.self) { try target(text) }
    }
}
