import Glibc
import Instruments
import Testing

@testable import Registration

/// Who may ask, how often, and in what form.
@Suite struct AccessTests {
    private let body = #"{"token": "\#(Api.token)"}"#
    private let path = "/v1/live-activities/a/token"

    @Test func withoutAKeyNothingIsDone() throws {
        let api = try Api()
        defer { api.stop() }
        for (path, method) in [
            (path, "PUT"), (path, "DELETE"), ("/v1/live-activities/a/state", "GET"),
            ("/v1/live-activities/a/explain", "HEAD"),
        ] {
            let answer = api.ask(method, path, key: nil, body: method == "PUT" ? body : nil)
            #expect(answer.status == 401)
            #expect(answer["WWW-Authenticate"] == #"Bearer realm="waypulse""#)
        }
        #expect(api.desk.asked.count == 0)
        #expect(api.ask("GET", "/v1/openapi.json", key: nil).status == 200)
    }

    @Test(arguments: [
        "Bearer \(Api.all.dropLast())", "Bearer \(Api.all)a", "Bearer \(Api.all.uppercased())", "Bearer", "Bearer ",
        "Basic \(Api.all)",
        Api.all, "Bearer \(Api.all) \(Api.all)", "Bearer, \(Api.all)", "Bearer \(String(repeating: "a", count: 4000))",
    ])
    func aKeyThatIsNoneIsTold(_ authorization: String) throws {
        let api = try Api()
        defer { api.stop() }
        let answer = api.ask("PUT", path, key: nil, ["Authorization: \(authorization)"], body: body)
        #expect(answer.status == 401)
        #expect(answer["WWW-Authenticate"]?.contains("invalid_token") == true)
        #expect(api.desk.asked.count == 0)
        #expect(!api.lines.text.contains(Api.all))
    }

    @Test func theSchemesCaseAndTwoFieldsOfIt() throws {
        let api = try Api()
        defer { api.stop() }
        #expect(api.ask("PUT", path, key: nil, ["authorization: bEARER \(Api.all)"], body: body).status == 202)
        let twice = ["Authorization: Bearer \(Api.all)", "Authorization: Bearer \(Api.all)"]
        #expect(api.ask("PUT", path, key: nil, twice, body: body).status == 401)
    }

    @Test func aKeyOpensWhatItsScopesSay() throws {
        let api = try Api()
        defer { api.stop() }
        #expect(api.ask("PUT", path, key: Api.writer, body: body).status == 202)
        let state = api.ask("GET", "/v1/live-activities/a/state", key: Api.writer)
        #expect(state.status == 403 && state.problem == "missing-scope" && state.text("scope") == "state:read")
        #expect(state["WWW-Authenticate"]?.contains(#"scope="state:read""#) == true)
        #expect(api.ask("PUT", path, key: Api.reader, body: body).status == 403)
        #expect(api.ask("GET", "/v1/live-activities/a/explain", key: Api.reader).status == 403)
        #expect(api.ask("GET", "/v1/live-activities/a/state", key: Api.reader).status == 404)
    }

    @Test func methodsThatAPathHasNotAreNamed() throws {
        let api = try Api()
        defer { api.stop() }
        for (method, path, allow) in [
            ("GET", path, "PUT, DELETE, OPTIONS"), ("POST", path, "PUT, DELETE, OPTIONS"),
            ("TRACE", path, "PUT, DELETE, OPTIONS"),
            ("PUT", "/v1/live-activities/token", "POST, OPTIONS"),
            ("DELETE", "/v1/live-activities/a/state", "GET, HEAD, OPTIONS"),
            ("BREW", "/v1/openapi.json", "GET, HEAD, OPTIONS"),
        ] {
            let answer = api.ask(method, path)
            #expect(answer.status == 405 && answer["Allow"] == allow, "\(method) \(path)")
            let options = api.ask("OPTIONS", path, key: nil)
            #expect(options.status == 204 && options["Allow"] == allow)
        }
        #expect(api.ask("GET", "/").problem == "unknown-path")
        #expect(api.ask("OPTIONS", "*").status == 404)
    }

    @Test func formsThatAreNotSpokenAreRefused() throws {
        let api = try Api()
        defer { api.stop() }
        #expect(api.ask("PUT", path, ["Content-Type: text/plain"], body: body).problem == "unsupported-media-type")
        #expect(api.ask("PUT", path, ["Content-Type: application/json; charset=latin1"], body: body).status == 415)
        #expect(api.ask("PUT", path, ["Content-Type: Application/JSON; charset=UTF-8"], body: body).status == 202)
        #expect(api.ask("PUT", path, ["Accept: text/html"], body: body).problem == "not-acceptable")
        #expect(api.ask("PUT", path, ["Accept: application/json;q=0, */*"], body: body).status == 406)
        #expect(api.ask("PUT", path, ["Accept: text/html, application/*;q=0.1"], body: body).status == 202)
        #expect(api.ask("PUT", path, body: String(repeating: " ", count: 16 << 10) + body).problem == "too-large")
        #expect(api.desk.asked.updates.count == 2)
    }

    @Test func aKeyHasItsRate() throws {
        let api = try Api {
            $0.requestsPerSecond = 2
            $0.burst = 3
        }
        defer { api.stop() }
        let answers = (0..<4).map { _ in api.ask("PUT", path, key: Api.writer, body: body) }
        #expect(answers.map(\.status) == [202, 202, 202, 429])
        #expect(answers[3].problem == "too-many-requests" && answers[3]["Retry-After"] == "1")
        // Another key has its own.
        #expect(api.ask("PUT", path, body: body).status == 202)
        api.clock.advance(500)
        #expect(api.ask("PUT", path, key: Api.writer, body: body).status == 202)
        #expect(api.ask("PUT", path, key: Api.writer, body: body).status == 429)
        #expect(api.desk.asked.updates.count == 5)
    }

    @Test func strangersHaveLittleAndCostOthersNothing() throws {
        let api = try Api { $0.strangersPerSecond = 1 }
        defer { api.stop() }
        let statuses = (0..<6).map { _ in api.ask("PUT", path, key: nil, body: body).status }
        #expect(statuses == [401, 401, 401, 401, 429, 429])
        #expect(api.ask("GET", "/v1/openapi.json", key: nil).status == 429)
        #expect(api.ask("GET", "/favicon.ico", key: "no such key is in the file, indeed").status == 429)
        #expect(api.ask("PUT", path, body: body).status == 202)
        api.clock.advance(1000)
        #expect(api.ask("PUT", path, key: nil, body: body).status == 401)
        // A clock that steps back gives nothing, and takes nothing for good.
        api.clock.advance(-3_600_000)
        #expect(api.ask("PUT", path, key: nil, body: body).status == 429)
        api.clock.advance(1000)
        #expect(api.ask("PUT", path, key: nil, body: body).status == 401)
    }

    @Test func whatIsCounted() throws {
        let api = try Api()
        defer { api.stop() }
        _ = api.ask("PUT", path, body: body)
        _ = api.ask("PUT", path, key: nil, body: body)
        _ = api.ask("GET", "/nowhere")
        let snapshot = api.registry.snapshot()
        #expect(snapshot.number("waypulse_api_requests_total", "update_token", "2xx") == 1)
        #expect(snapshot.number("waypulse_api_requests_total", "update_token", "4xx") == 1)
        #expect(snapshot.number("waypulse_api_requests_total", "other", "4xx") == 1)
        #expect(snapshot.number("waypulse_api_rejected_total", "no_key") == 1)
        #expect(snapshot.number("waypulse_api_rejected_total", "path") == 1)
        #expect(snapshot.number("waypulse_api_keys") == 3)
        #expect(snapshot.distribution("waypulse_api_request_seconds", "update_token")?.count == 2)
        #expect(!api.lines.text.contains(Api.all) && !api.lines.text.contains(Api.token))
    }
}

@Suite struct MediaRangeTests {
    @Test(
        arguments: [
            ([], 1), (["*/*"], 1), (["text/html"], 0), (["application/*;q=0.5"], 0.5),
            (["*/*;q=0.1, application/json"], 1),
            (["application/json;q=0, */*"], 0), (["Application/JSON ; Q=0.25"], 0.25), (["application/json;q=x"], 0),
            (["text/html", "*/*;q=0.3"], 0.3),
            (["nonsense"], 1), (["application/json;q=7"], 1),
        ] as [([String], Double)])
    func theMostSpecificRangeDecides(_ fields: [String], _ quality: Double) {
        #expect(MediaRanges(fields).quality(of: "application/json") == quality)
    }

    @Test func aHeadFullOfThemIsCutOff() {
        let full = Array(repeating: "a/b", count: 5000).joined(separator: ",")
        #expect(MediaRanges([full, "application/json"]).quality(of: "application/json") == 0)
    }
}
