import Telemetry
import Testing

@Suite struct EventTargetTests {
    private let updateToken = String(repeating: "0a", count: 32)
    private let startToken = String(repeating: "F7", count: 80)

    private func started(_ fields: String) -> String { event("activity.started", fields) }

    private var updateTokenValue: PushToken { PushToken(bytes: Array(repeating: 0x0A, count: 32)) }
    private var startTokenValue: PushToken { PushToken(bytes: Array(repeating: 0xF7, count: 80)) }

    @Test func aStartMayWaitForItsTarget() throws {
        #expect(try detail(started("")).target == .none)
    }

    @Test func eachTargetIsKnownByItsField() throws {
        #expect(try detail(started(#""token":"\#(updateToken)""#)).target == .updateToken(updateTokenValue))
        let byPush = #""attributesType":"Delivery","alert":{"title":"On its way"}"#
        #expect(
            try detail(started(#""startToken":"\#(startToken)",\#(byPush)"#)).target == .startToken(startTokenValue))
        #expect(try detail(started(#""userId":"u-7",\#(byPush)"#)).target == .user("u-7"))
        #expect(try detail(started(#""channelId":"dHN0LXNyY2gtY2hubA==""#)).target == .channel("dHN0LXNyY2gtY2hubA=="))
    }

    @Test func aStartTokenBesideATokenIsKeptForRenewal() throws {
        let both = #""token":"\#(updateToken)","startToken":"\#(startToken)""#
        let detail = try detail(started(both + #","attributesType":"Delivery""#))
        #expect(detail.target == .updateToken(updateTokenValue))
        #expect(detail.renewalStartToken == startTokenValue)
        #expect(reason(started(both)) == "missing_field:attributesType")
    }

    @Test func aStartMayEndAnotherActivityButNotItself() throws {
        #expect(try detail(started(#""replaces":"ride-0""#)).replaces == "ride-0")
        #expect(try detail(started(#""replaces":null"#)).replaces == nil)
        let own = #"{"type":"activity.started","activityId":"ä1","timestamp":1773000600,"replaces":"ä1"}"#
        #expect(reason(own) == "out_of_range:replaces")
        // Ids are bytes: another normal form is another activity.
        #expect(reason(own.replacing("replaces\":\"ä", with: "replaces\":\"a\u{308}")) == nil)
        let subject =
            #"{"type":"activity.started","subjectId":"m","timestamp":1773000600,"channelId":"c","replaces":"m"}"#
        #expect(reason(subject) == "out_of_range:replaces")
    }

    @Test func aTokenIsTakenBackByNameOrByTime() throws {
        let named = try detail(event("token", #""token":"\#(updateToken)","revoked":true"#))
        #expect(named.isRevoked && named.target == .updateToken(updateTokenValue))
        let all = try detail(event("token", #""revoked":true"#))
        #expect(all.isRevoked && all.target == .none)
        #expect(try !detail(event("token", #""token":"\#(updateToken)","revoked":null"#)).isRevoked)
        #expect(reason(event("token", #""revoked":false"#)) == "missing_field:token")
    }

    @Test func twoTargetsAreTooMany() {
        let fields = [
            "token": #""token":"\#(updateToken)""#, "startToken": #""startToken":"\#(startToken)""#,
            "userId": #""userId":"u""#, "channelId": #""channelId":"c""#,
        ]
        let more = #""attributesType":"D","alert":{"title":"x"}"#
        for (first, text) in fields {
            for (second, other) in fields where first < second {
                let isAllowed = first == "startToken" && second == "token"
                #expect(
                    reason(started("\(text),\(other),\(more)")) == (isAllowed ? nil : "too_many_targets"),
                    "\(first) and \(second)")
            }
        }
        #expect(reason(started(fields.values.joined(separator: ",") + "," + more)) == "too_many_targets")
        #expect(reason(started(#""token":"\#(updateToken)","userId":null,"channelId":null"#)) == nil)
    }

    @Test func aStartByPushNamesItsType() {
        for target in [#""startToken":"\#(startToken)""#, #""userId":"u""#] {
            #expect(reason(started(target)) == "missing_field:attributesType")
            #expect(reason(started(target + #","attributesType":"""#)) == "out_of_range:attributesType")
            // Whether it needs an alert depends on what the activity has, which the engine knows.
            #expect(reason(started(target + #","attributesType":"Delivery""#)) == nil)
        }
    }

    @Test(arguments: [
        (#""attributesType":5"#, "wrong_type:attributesType"), (#""attributes":[]"#, "wrong_type:attributes"),
        (#""contentState":1"#, "wrong_type:contentState"), (#""follows":5"#, "wrong_type:follows"),
        (#""follows":"""#, "out_of_range:follows"), (#""token":5"#, "wrong_type:token"),
        (#""startToken":{}"#, "wrong_type:startToken"),
        (#""userId":5"#, "wrong_type:userId"), (#""userId":"""#, "out_of_range:userId"),
        (#""channelId":5"#, "wrong_type:channelId"),
        (#""channelId":"""#, "out_of_range:channelId"), (#""channelId":"a b""#, "out_of_range:channelId"),
        (#""channelId":"a\r\nx-evil: 1""#, "out_of_range:channelId"), (#""fcmToken":5"#, "wrong_type:fcmToken"),
        (#""frequentUpdates":1"#, "wrong_type:frequentUpdates"),
        (#""frequentUpdates":"true""#, "wrong_type:frequentUpdates"),
        (#""alert":[]"#, "wrong_type:alert"),
    ])
    func eachFieldOfAStartIsTyped(fields: String, expected: String) {
        #expect(reason(started(fields)) == expected)
    }

    @Test func theRestOfAStartIsKept() throws {
        let detail = try detail(
            started(
                #""attributesType":"Delivery","attributes":{"order":"4711"},"follows":"courier-3","fcmToken":"f:1","frequentUpdates":true"#
            ))
        #expect(detail.attributesType == "Delivery")
        #expect(detail.attributes == (try object(#"{"order":"4711"}"#)))
        #expect(detail.follows == "courier-3" && detail.fcmToken == "f:1" && detail.frequentUpdates == true)
    }

    @Test func aSubjectIsAnActivityOnlyWithAChannel() throws {
        let subject = #"{"type":"activity.started","subjectId":"match-9","timestamp":1"#
        #expect(reason(subject + "}") == "missing_field:activityId")
        #expect(reason(subject + #","token":"\#(updateToken)"}"#) == "missing_field:activityId")
        #expect(try withEvent(subject + #","channelId":"c"}"#) { $0.isForSubject })
    }

    @Test func aTokenEventBringsATokenForOneActivity() throws {
        let detail = try detail(event("token", #""token":"\#(updateToken.uppercased())","frequentUpdates":false"#))
        #expect(detail.target == .updateToken(updateTokenValue) && detail.frequentUpdates == false)
        #expect(reason(event("token", "")) == "missing_field:token")
        #expect(reason(event("token", #""token":null"#)) == "missing_field:token")
        #expect(
            reason(#"{"type":"token","subjectId":"match-9","timestamp":1,"token":"\#(updateToken)"}"#)
                == "missing_field:activityId")
    }

    @Test func aTokenIsHexOfEvenLength() {
        func token(_ text: String) -> String? { reason(event("token", "\"token\":\"\(text)\"")) }
        #expect(token(String(repeating: "a", count: 64)) == nil)
        #expect(token(String(repeating: "F", count: 400)) == nil)
        for bad in [
            "", String(repeating: "a", count: 62), String(repeating: "a", count: 65),
            String(repeating: "a", count: 402),
            String(repeating: "g", count: 64), "<" + String(repeating: "a", count: 62) + ">",
            String(repeating: "ab ", count: 32), String(repeating: "é", count: 32),
        ] {
            #expect(token(bad) == "bad_token", "\(bad)")
        }
    }

    @Test func aTokenIsTheSameInEitherCase() {
        #expect(PushToken(hex: startToken) == PushToken(hex: startToken.lowercased()))
        #expect(PushToken(hex: startToken)?.hex == startToken.lowercased())
    }
}
