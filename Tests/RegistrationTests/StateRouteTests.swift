import Glibc
import Instruments
import Registration
import Testing

/// States, streams of them, and explanations.
@Suite struct StateRouteTests {
    private let path = "/v1/live-activities/a/state"

    private func view(
        _ sequence: Int64, _ content: String = #"{"status":"near"}"#, stage: ActivityStateView.Stage = .active,
        age: Int64 = 0
    ) -> StateOutcome {
        .known(
            ActivityStateView(
                activityIdentifier: "a", stage: stage, attributesType: "Ride", contentState: Array(content.utf8),
                sequence: sequence, lastPushedAtMilliseconds: 1_773_000_000_000, ageMilliseconds: age))
    }

    @Test func aStateIsToldWithItsTagAndAge() throws {
        let api = try Api()
        defer { api.stop() }
        api.desk.change { [view = view(7, age: 1250)] in $0.states["a"] = view }
        let answer = api.ask("GET", path)
        #expect(answer.status == 200)
        #expect(
            answer.body
                == #"{"activityId":"a","stage":"active","attributesType":"Ride","sequence":7,"lastPushedAt":"2026-03-08T20:00:00.000Z","contentState":{"status":"near"}}"#
                + "\n")
        #expect(answer["Waypulse-Age-Milliseconds"] == "1250")
        #expect(answer["Cache-Control"] == "private, no-cache")
        let tag = try #require(answer["ETag"])
        #expect(tag.hasPrefix("\"7-"))
        for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
            let again = api.ask("GET", path, ["If-None-Match: \(known)"])
            #expect(again.status == 304 && again["ETag"] == tag && again.body.isEmpty)
        }
        #expect(api.ask("GET", path, ["If-None-Match: \"7-0\""]).status == 200)
        let head = api.ask("HEAD", path)
        #expect(head.status == 200 && head["ETag"] == tag && head["Content-Length"] == answer["Content-Length"])
        api.desk.change { [view = view(7, age: 9000)] in $0.states["a"] = view }
        #expect(api.ask("GET", path)["ETag"] == tag)
        api.desk.change { [view = view(7, #"{"status":"here"}"#)] in $0.states["a"] = view }
        #expect(api.ask("GET", path)["ETag"] != tag)
        api.desk.change { [view = view(8)] in $0.states["a"] = view }
        #expect(api.ask("GET", path)["ETag"] != tag)
    }

    @Test func whatIsNotKnownAndWhatCannotBeAsked() throws {
        let api = try Api()
        defer { api.stop() }
        #expect(api.ask("GET", path).problem == "unknown-activity")
        #expect(api.ask("GET", path, ["Accept: text/event-stream"]).problem == "unknown-activity")
        api.desk.change { $0.states["a"] = .unavailable("the store is away") }
        #expect(api.ask("GET", path).status == 503)
        #expect(api.ask("GET", path, ["Accept: text/event-stream"]).status == 503)
        #expect(api.registry.snapshot().number("waypulse_api_streams") == 0)
    }

    private func stream(_ api: Api, _ fields: [String] = []) -> ApiClient {
        let client = api.client()
        client.send(Api.request("GET", path, key: Api.all, ["Accept: text/event-stream"] + fields))
        return client
    }

    @Test func aStreamTellsEachChangeAndEndsWithTheActivity() throws {
        let api = try Api()
        defer { api.stop() }
        api.desk.change { [view = view(1)] in $0.states["a"] = view }
        let client = stream(api)
        let head = client.answer()
        #expect(
            head.status == 200 && head["Content-Type"] == "text/event-stream" && head["Cache-Control"] == "no-store")
        let first = client.until("\n\n\r\n")
        #expect(first.contains("retry: 3000\n\nevent: state\nid: 1-") && first.contains(#""sequence":1,"#))
        api.desk.change { [view = view(2)] in $0.states["a"] = view }
        #expect(client.until("\n\n\r\n").contains(#""sequence":2,"#))
        api.desk.change { [view = view(3, stage: .ended)] in $0.states["a"] = view }
        #expect(client.until("\n\n\r\n").contains(#""stage":"ended","#))
        #expect(client.until("0\r\n\r\n") == "0\r\n\r\n")
        #expect(eventually { api.registry.snapshot().number("waypulse_api_streams") == 0 })
    }

    @Test func manyWhoFollowOneActivityAreOneQuestion() throws {
        let api = try Api()
        defer { api.stop() }
        api.desk.change { [view = view(1)] in $0.states["a"] = view }
        let clients = (0..<20).map { _ in stream(api) }
        for client in clients { #expect(client.until("\n\n\r\n").contains(#""sequence":1,"#)) }
        let before = api.desk.asked.states.count
        #expect(eventually { api.desk.asked.states.count >= before + 2 })
        // Each tick asks once; twenty questions at once would show.
        #expect(api.desk.asked.states.count <= before + 4)
        api.desk.change { [view = view(2)] in $0.states["a"] = view }
        for client in clients { #expect(client.until("\n\n\r\n").contains(#""sequence":2,"#)) }
    }

    @Test func whoComesAgainIsNotToldWhatItKnows() throws {
        let api = try Api()
        defer { api.stop() }
        api.desk.change { [view = view(1)] in $0.states["a"] = view }
        let tag = try #require(api.ask("GET", path)["ETag"])
        let client = stream(api, ["Last-Event-ID: \(tag.dropFirst().dropLast())"])
        #expect(client.until("retry: 3000\n\n\r\n").hasSuffix("retry: 3000\n\n\r\n"))
        api.desk.change { [view = view(2, stage: .ended)] in $0.states["a"] = view }
        let last = client.until("\n\n\r\n")
        #expect(last.contains(#""sequence":2,"#) && !last.contains(#""sequence":1,"#))
        let end = try #require(api.ask("GET", path)["ETag"])
        let after = stream(api, ["Last-Event-ID: \(end.dropFirst().dropLast())"])
        #expect(after.answer().status == 204)
    }

    @Test func anActivityThatIsForgottenEndsItsStreams() throws {
        let api = try Api()
        defer { api.stop() }
        api.desk.change { [view = view(1)] in $0.states["a"] = view }
        let client = stream(api)
        #expect(client.until("\n\n\r\n").contains(#""sequence":1,"#))
        api.desk.change { $0.states["a"] = .unknown }
        #expect(client.until("0\r\n\r\n").contains("event: gone\ndata: {}\n\n"))
    }

    @Test func aStreamSaysNowAndThenThatItIsThere() throws {
        let api = try Api()
        defer { api.stop() }
        api.desk.change { [view = view(1)] in $0.states["a"] = view }
        let client = stream(api)
        #expect(client.until("\n\n\r\n").contains(#""sequence":1,"#))
        api.clock.advance(15_000)
        #expect(client.until("\n\n\r\n").contains(": nothing new\n\n"))
    }

    @Test func streamsAreLimitedAndTheirPlacesComeBack() throws {
        let api = try Api { $0.maxStreams = 2 }
        defer { api.stop() }
        api.desk.change { [view = view(1)] in $0.states["a"] = view }
        var clients = (0..<2).map { _ in stream(api) }
        for client in clients { _ = client.until("\n\n\r\n") }
        let third = stream(api).answer()
        #expect(third.status == 503 && third.problem == "too-many-streams" && third["Retry-After"] == "10")
        #expect(api.ask("GET", path).status == 200)
        clients.removeLast()
        #expect(eventually { stream(api).answer().status == 200 })
        #expect(clients.count == 1)
    }

    @Test func aKeyThatIsTakenAwayClosesItsStreams() throws {
        let api = try Api()
        defer { api.stop() }
        api.desk.change { [view = view(1)] in $0.states["a"] = view }
        let client = stream(api)
        _ = client.until("\n\n\r\n")
        let new = try Api.temporaryFile("writer tokens:write \(Api.writer)\n")
        #expect(rename(new, api.keysPath) == 0)
        #expect(client.until("0\r\n\r\n").hasSuffix("0\r\n\r\n"))
    }

    @Test func anExplanationIsPassedOn() throws {
        let api = try Api()
        defer { api.stop() }
        let path = "/v1/live-activities/a/explain"
        #expect(api.ask("GET", path).problem == "unknown-activity")
        api.desk.change { $0.explanation = .known(Array(#"{"decisions":[]}"#.utf8)) }
        #expect(api.ask("GET", path).body == #"{"decisions":[]}"#)
        api.desk.change { $0.explanation = .elsewhere(member: "two", address: "10.0.0.2:8080") }
        let answer = api.ask("GET", path)
        #expect(answer.status == 421 && answer.problem == "other-member")
        #expect(answer.text("member") == "two" && answer.text("address") == "10.0.0.2:8080")
        api.desk.change { $0.explanation = .elsewhere(member: "two", address: nil) }
        #expect(api.ask("GET", path).text("address") == nil)
        api.desk.change { $0.explanation = .unavailable("the owner is between hands") }
        #expect(api.ask("GET", path).status == 503)
    }
}
