import LiveActivities
import Testing

@Suite("Answers of APNs")
struct ProviderAnswerTests {
    private func answer(_ status: Int, _ body: String, retryAfter: String? = nil) -> ProviderAnswer {
        let body = Array(body.utf8)
        return body.withUnsafeBytes { body in
            guard let retryAfter else { return ProviderAnswer(status: status, body: body) }
            return Array(retryAfter.utf8).withUnsafeBytes {
                ProviderAnswer(status: status, body: body, retryAfter: $0)
            }
        }
    }

    @Test("success has an empty body")
    func accepted() {
        #expect(answer(200, "") == ProviderAnswer(status: 200))
        #expect(answer(200, "").isAccepted)
    }

    @Test("410 tells when the token was found invalid, in milliseconds")
    func gone() {
        #expect(
            answer(410, #"{"reason":"Unregistered","timestamp":1795953600000}"#)
                == ProviderAnswer(status: 410, reason: .unregistered, timestampMilliseconds: 1_795_953_600_000))
        #expect(
            answer(410, "{ \"timestamp\" : 2000 ,\n \"reason\" : \"ExpiredToken\" }")
                == ProviderAnswer(status: 410, reason: .expiredToken, timestampMilliseconds: 2_000))
    }

    @Test(
        "a time that is none is absent",
        arguments: [
            #"{"reason":"Unregistered"}"#, #"{"reason":"Unregistered","timestamp":null}"#,
            #"{"reason":"Unregistered","timestamp":"2000"}"#, #"{"reason":"Unregistered","timestamp":-1}"#,
            #"{"reason":"Unregistered","timestamp":1e300}"#,
        ])
    func noTime(body: String) {
        #expect(answer(410, body) == ProviderAnswer(status: 410, reason: .unregistered))
    }

    @Test(
        "what cannot be read tells nothing",
        arguments: [
            "", "{", #"{"reason":"BadDeviceToken""#, "[]", "null", #"{"reason":5}"#, #"{"reason":""}"#, "<html>",
            "{\"reason\":\"\u{0}\"}", #"{"reason":"\uD800"}"#, #"{"timestamp":}"#,
        ])
    func broken(body: String) {
        #expect(answer(400, body) == ProviderAnswer(status: 400))
    }

    @Test("bytes that are no UTF-8 tell nothing")
    func noUTF8() {
        let body: [UInt8] = Array(#"{"reason":""#.utf8) + [0xFF, 0xFE] + Array(#""}"#.utf8)
        #expect(body.withUnsafeBytes { ProviderAnswer(status: 500, body: $0) } == ProviderAnswer(status: 500))
    }

    @Test("an unknown reason is kept as it came, and counted as other")
    func unknownReason() {
        let reason = answer(400, #"{"reason":"Something New/ü"}"#).reason
        #expect(reason == .unknown("Something New/ü"))
        #expect(reason?.name == "Something New/ü")
        #expect(reason?.label == "other")
    }

    @Test(
        "spellings that have been met are understood",
        arguments: [
            ("Service Unavailable", APNsReason.serviceUnavailable), ("serviceUnavailable", .serviceUnavailable),
            ("BadEnvironmentKeyInToken", .badEnvironmentKeyIdInToken), ("BADDEVICETOKEN", .badDeviceToken),
            ("Internal_Server_Error", .internalServerError),
        ])
    func spelling(row: (text: String, reason: APNsReason)) {
        #expect(APNsReason(row.text) == row.reason)
    }

    @Test("an answer has a name for people and a label for metrics")
    func names() {
        let rows: [(answer: ProviderAnswer, name: String, label: String)] = [
            (ProviderAnswer(status: 200), "status 200", "2xx"),
            (ProviderAnswer(status: 410, reason: .unregistered), "Unregistered", "Unregistered"),
            (ProviderAnswer(status: 400, reason: .unknown("Novel")), "Novel", "4xx"),
            (ProviderAnswer(status: 502), "status 502", "5xx"), (ProviderAnswer(status: 0), "status 0", "other"),
        ]
        for row in rows {
            #expect(row.answer.name == row.name)
            #expect(row.answer.label == row.label)
        }
    }

    @Test("every documented reason reads back from its own name")
    func everyReason() {
        let names = [
            "BadCollapseId", "BadDeviceToken", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic",
            "DeviceTokenNotForTopic", "DuplicateHeaders", "IdleTimeout", "InvalidPushType", "MissingDeviceToken",
            "MissingTopic", "PayloadEmpty", "TopicDisallowed", "BadCertificate", "BadCertificateEnvironment",
            "ExpiredProviderToken", "Forbidden", "InvalidProviderToken", "MissingProviderToken",
            "UnrelatedKeyIdInToken", "BadEnvironmentKeyIdInToken", "BadPath", "MethodNotAllowed", "ExpiredToken",
            "Unregistered", "PayloadTooLarge", "TooManyProviderTokenUpdates", "TooManyRequests",
            "InternalServerError", "ServiceUnavailable", "Shutdown",
        ]
        for name in names {
            #expect(APNsReason(name).name == name)
            #expect(APNsReason(name).label == name)
        }
    }

    @Test("retry-after is read in seconds, the form with a date is not")
    func retryAfter() {
        #expect(answer(503, "", retryAfter: "37").retryAfterSeconds == 37)
        for text in ["", "-1", "1.5", "Fri, 31 Dec 1999 23:59:59 GMT", "12345678901"] {
            #expect(answer(503, "", retryAfter: text).retryAfterSeconds == nil)
        }
    }

    @Test("a GOAWAY names its reason in debug data, or none")
    func goAway() {
        func reason(_ text: String) -> APNsReason? {
            Array(text.utf8).withUnsafeBytes { APNsReason(goAwayDebugData: $0) }
        }
        #expect(reason(#"{"reason":"BadCertificateEnvironment"}"#) == .badCertificateEnvironment)
        #expect(reason("") == nil)
        #expect(reason("max active streams") == nil)
    }
}
