import Registration
import Telemetry
import Testing

/// Tokens put, posted and taken back.
@Suite struct TokenRouteTests {
    private let token = Api.token

    @Test func anUpdateTokenIsAppended() throws {
        let api = try Api()
        defer { api.stop() }
        let answer = api.ask(
            "PUT", "/v1/live-activities/order%2F1%20%C3%A4/token",
            body:
                #"{"token": "\#(token.uppercased())", "timestamp": 1772999999.25, "frequentUpdates": true, "app": "courier", "more": [1]}"#
        )
        #expect(answer.status == 202)
        #expect(answer.text("status") == "appended")
        #expect(answer.text("token")?.hasPrefix("5e5e…") == true)
        #expect(!answer.body.contains(token))
        #expect(
            api.desk.asked.updates == [
                UpdateTokenRegistration(
                    activityIdentifier: "order/1 ä", token: PushToken(hex: token), frequentUpdates: true,
                    app: "courier",
                    atMilliseconds: 1_772_999_999_250)
            ])
    }

    @Test func theFormThatIsPostedDoesTheSame() throws {
        let api = try Api()
        defer { api.stop() }
        let answer = api.ask(
            "POST", "/v1/live-activities/token",
            body: #"{"activityId": "order-1", "token": "\#(token)", "timestamp": "2026-03-08T20:00:00Z"}"#)
        #expect(answer.status == 202)
        #expect(
            api.desk.asked.updates == [
                UpdateTokenRegistration(
                    activityIdentifier: "order-1", token: PushToken(hex: token), atMilliseconds: 1_773_000_000_000)
            ])
    }

    @Test func aStartTokenIsStored() throws {
        let api = try Api()
        defer { api.stop() }
        #expect(
            api.ask("PUT", "/v1/users/user-1/push-to-start-tokens/Ride", body: #"{"token": "\#(token)"}"#).status == 200
        )
        #expect(
            api.ask(
                "POST", "/v1/push/push-to-start",
                body: #"{"userId": "user-2", "attributesType": "Ride", "token": "\#(token)", "app": null}"#
            ).text("status") == "stored")
        #expect(
            api.desk.asked.starts
                == ["user-1", "user-2"].map {
                    StartTokenRegistration(
                        user: $0, attributesType: "Ride", token: PushToken(hex: token), atMilliseconds: api.clock.now)
                })
    }

    @Test func tokensAreTakenBackByNameOrAllOfThem() throws {
        let api = try Api()
        defer { api.stop() }
        #expect(api.ask("DELETE", "/v1/live-activities/a/token").status == 202)
        #expect(api.ask("DELETE", "/v1/live-activities/a/token", body: #"{"token": "\#(token)"}"#).status == 202)
        #expect(api.ask("DELETE", "/v1/users/u/push-to-start-tokens/Ride").status == 200)
        #expect(api.desk.asked.updates.map(\.token) == [nil, PushToken(hex: token)])
        #expect(api.desk.asked.updates.allSatisfy { $0.isRevoked && $0.atMilliseconds == api.clock.now })
        #expect(api.desk.asked.starts.map(\.isRevoked) == [true])
    }

    @Test func whatBecameOfARegistrationIsTold() throws {
        let api = try Api()
        defer { api.stop() }
        func put(_ outcome: RegistrationOutcome) -> Answer {
            api.desk.change { $0.registration = outcome }
            return api.ask("PUT", "/v1/live-activities/a/token", body: #"{"token": "\#(token)"}"#)
        }
        #expect(put(.stored).text("status") == "stored")
        let superseded = put(.superseded)
        #expect(superseded.status == 200 && superseded.text("status") == "superseded")
        let away = put(.unavailable("no broker answers"))
        #expect(away.status == 503 && away.problem == "unavailable" && away["Retry-After"] == "2")
        #expect(away.text("detail")?.contains("no broker answers") == true)
        let full = put(.overloaded)
        #expect(full.status == 503 && full.problem == "overloaded" && full["Retry-After"] == "1")
    }

    @Test func aSlowDeskHoldsNobodyElseUp() throws {
        let api = try Api()
        defer { api.stop() }
        api.desk.change { $0.holds = true }
        let waiting = api.client()
        waiting.send(Api.request("PUT", "/v1/live-activities/a/token", key: Api.all, body: #"{"token": "\#(token)"}"#))
        #expect(eventually { api.desk.asked.updates.count == 1 })
        #expect(api.ask("GET", "/v1/openapi.json").status == 200)
        api.desk.release()
        #expect(waiting.answer().status == 202)
    }

    @Test(
        arguments: [
            (#"{"#, 400, nil), ("[]", 400, nil), (#""x""#, 400, nil), ("\u{FEFF}{}", 400, nil),
            (#"{"token":1,"token":2}"#, 400, nil),
            (#"{}"#, 422, "token"), (#"{"token": null}"#, 422, "token"), (#"{"token": 5}"#, 422, "token"),
            (#"{"token": ""}"#, 422, "token"),
            (#"{"token": "TOKEN0"}"#, 422, "token"), (#"{"token": " TOKEN"}"#, 422, "token"),
            (#"{"token": "<TOKEN>"}"#, 422, "token"),
            (#"{"token": "5e5e"}"#, 422, "token"), (#"{"token": "TOKENTOKENTOKENTOKENTOKENTOKEN"}"#, 422, "token"),
            (#"{"token": "TOKEN", "timestamp": 1773000000000}"#, 422, "timestamp"),
            (#"{"token": "TOKEN", "timestamp": 1773000301}"#, 422, "timestamp"),
            (#"{"token": "TOKEN", "timestamp": "yesterday"}"#, 422, "timestamp"),
            (#"{"token": "TOKEN", "timestamp": "1773000000"}"#, 422, "timestamp"),
            (#"{"token": "TOKEN", "timestamp": -1e12}"#, 422, "timestamp"),
            (#"{"token": "TOKEN", "timestamp": true}"#, 422, "timestamp"),
            (#"{"token": "TOKEN", "timestamp": 1e999}"#, 400, nil),
            (#"{"token": "TOKEN", "timestamp": "2031-01-01T00:00:00Z"}"#, 422, "timestamp"),
            (#"{"token": "TOKEN", "frequentUpdates": "yes"}"#, 422, "frequentUpdates"),
            (#"{"token": "TOKEN", "app": 1}"#, 422, "app"),
            (#"{"token": "TOKEN", "app": "other"}"#, 422, "app"),
        ] as [(String, Int, String?)])
    func aBodyThatCannotBeUsedSaysWhatIsWrong(_ body: String, _ status: Int, _ field: String?) throws {
        let api = try Api()
        defer { api.stop() }
        let answer = api.ask(
            "PUT", "/v1/live-activities/a/token",
            body: body.split(separator: "TOKEN", omittingEmptySubsequences: false).joined(separator: token))
        #expect(answer.status == status)
        #expect(answer.problem == (status == 400 ? "malformed-request" : "invalid-field"))
        #expect(answer.text("field") == field)
        #expect(answer.text("instance") == "/v1/live-activities/a/token")
        #expect(answer.text("detail")?.isEmpty == false)
        #expect(!answer.body.contains(token))
        #expect(api.desk.asked.count == 0)
    }

    @Test func aClockThatIsALittleAheadIsNoError() throws {
        let api = try Api()
        defer { api.stop() }
        #expect(
            api.ask("PUT", "/v1/live-activities/a/token", body: #"{"token": "\#(token)", "timestamp": 1773000300}"#)
                .status
                == 202)
    }

    @Test(arguments: [
        ("/v1/live-activities/\(String(repeating: "x", count: 128))/token", 202),
        ("/v1/live-activities/\(String(repeating: "x", count: 129))/token", 422), ("/v1/live-activities//token", 422),
        ("/v1/live-activities/\(String(repeating: "%C3%A4", count: 65))/token", 422),
        ("/v1/live-activities/%00/token", 400),
        ("/v1/live-activities/%FF/token", 400), ("/v1/live-activities/%/token", 400),
        ("/v1/live-activities/a/b/token", 404),
        ("/v1/live-activities/a/token/", 404), ("/v1/live-activities/%2e%2e/token", 202),
        ("/V1/live-activities/a/token", 404),
    ])
    func idsOfThePathAreHeldToTheirRule(_ path: String, _ status: Int) throws {
        let api = try Api()
        defer { api.stop() }
        #expect(api.ask("PUT", path, body: #"{"token": "\#(token)"}"#).status == status)
    }

    @Test func idsOfTheBodyAsWell() throws {
        let api = try Api()
        defer { api.stop() }
        for (id, field) in [
            ("", "activityId"), ("a\\u0000", "activityId"), (String(repeating: "x", count: 129), "activityId"),
        ] {
            let answer = api.ask(
                "POST", "/v1/live-activities/token", body: #"{"activityId": "\#(id)", "token": "\#(token)"}"#)
            #expect(answer.status == 422 && answer.text("field") == field)
        }
        #expect(api.ask("POST", "/v1/push/push-to-start", body: #"{"token": "\#(token)"}"#).text("field") == "userId")
    }

    @Test func whereThereAreSeveralAppsAStartTokenNamesOne() throws {
        let api = try Api { $0.apps = ["courier", "shop"] }
        defer { api.stop() }
        let path = "/v1/users/u/push-to-start-tokens/Ride"
        #expect(api.ask("PUT", path, body: #"{"token": "\#(token)"}"#).text("field") == "app")
        #expect(api.ask("PUT", path, body: #"{"token": "\#(token)", "app": "shop"}"#).status == 200)
        #expect(api.desk.asked.starts.map(\.app) == ["shop"])
    }
}
