import Telemetry
import Testing

@testable import PushSimulator

@Suite("Behind a 200 the phone decides for itself")
struct PhoneModelTests {
    static let noonSeconds: Int64 = 1_795_953_600
    static let token = String(repeating: "ab", count: 80)
    static let startToken = String(repeating: "cd", count: 80)

    var phones = PhoneModel()
    var nowMilliseconds = noonSeconds * 1_000
    var count = 0

    init() {
        phones.begin(
            updateToken: Self.token, device: "phone", activityIdentifier: "A", attributesType: "Delivery",
            atMilliseconds: nowMilliseconds)
        phones.register(startToken: Self.startToken, device: "phone")
    }

    mutating func receive(
        _ aps: String, token: String = token, priority: Int = 5, expirationSeconds: Int64? = 0
    ) -> PhoneModel.Outcome {
        let push = DeliveredPush(
            token: token, topic: FaceBench.topic, priority: priority, expirationSeconds: expirationSeconds,
            content: PhonePush(body: Array(#"{"aps":{\#(aps)}}"#.utf8)), atMilliseconds: nowMilliseconds)
        count += 1
        return phones.receive(push, number: count - 1, atMilliseconds: nowMilliseconds)
    }

    mutating func expect(
        _ verdict: Verdict, _ aps: String, token: String = token, priority: Int = 5, expirationSeconds: Int64? = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let outcome = receive(aps, token: token, priority: priority, expirationSeconds: expirationSeconds)
        #expect(outcome.judgements.last?.verdict == verdict, sourceLocation: sourceLocation)
    }

    static func update(_ later: Int64 = 0, _ more: String = "") -> String {
        #""timestamp":\#(noonSeconds + later),"event":"update","content-state":{"status":"near"}\#(more)"#
    }

    static func start(_ more: String = #","alert":{"title":"On its way","body":""},"attributes":{"activityId":"B"}"#)
        -> String
    {
        #""timestamp":\#(noonSeconds),"event":"start","content-state":{"status":"new"},"attributes-type":"Delivery"\#(more)"#
    }

    @Test("V15: an update is applied silently, with an alert it sounds")
    mutating func applied() {
        expect(.applied, Self.update(0))
        expect(.alerted, Self.update(1, #","alert":{"title":"Here","body":"soon"}"#))
        #expect(phones.activities[Self.token]?.newestTimestampSeconds == Double(Self.noonSeconds + 1))
        #expect(phones.activities[Self.token]?.alertCount == 1)
    }

    @Test("V1: a timestamp that is missing, text, milliseconds, or more than 8 h ahead")
    mutating func timestamps() {
        expect(.dropped(.timestamp), #""event":"update","content-state":{}"#)
        expect(.dropped(.timestamp), #""timestamp":"now","event":"update","content-state":{}"#)
        expect(.dropped(.timestamp), #""timestamp":1795953600000,"event":"update","content-state":{}"#)
        expect(.dropped(.timestamp), Self.update(8 * 3_600 + 1))
        expect(.applied, Self.update(8 * 3_600))
    }

    @Test("V2: what is older is outdated, and so is what is equal unless the setting says otherwise")
    mutating func outdated() {
        expect(.applied, Self.update(10))
        expect(.dropped(.outdated), Self.update(9))
        expect(.dropped(.outdated), Self.update(10))
        phones.settings.dropsEqualTimestamps = false
        expect(.applied, Self.update(10))
    }

    @Test("V3: an update that lags is late, where the setting is on")
    mutating func late() {
        nowMilliseconds += 121_000
        expect(.applied, Self.update(0))
        phones.settings.maxLagSeconds = 119.5
        expect(.dropped(.late), Self.update(1))
        expect(.applied, Self.update(2))
    }

    @Test("V4–V5: no event, no content-state, one that does not decode")
    mutating func decoding() {
        expect(.dropped(.event), #""timestamp":\#(Self.noonSeconds),"content-state":{}"#)
        expect(.dropped(.event), #""timestamp":\#(Self.noonSeconds),"event":"pause","content-state":{}"#)
        expect(.dropped(.decode), #""timestamp":\#(Self.noonSeconds),"event":"update""#)
        phones.settings.types["Delivery"] = .init(decodesContentState: { $0["status"]?.asString == "near" })
        expect(.applied, Self.update(0))
        expect(
            .dropped(.decode), #""timestamp":\#(Self.noonSeconds + 1),"event":"update","content-state":{"status":1}"#)
    }

    @Test("V6–V7: a start needs a worded alert, type and attributes, and one way to be updated")
    mutating func starts() {
        let complete = #","alert":{"title":"t"},"attributes":{}"#
        expect(.dropped(.start), Self.start(#","attributes":{}"#), token: Self.startToken)
        expect(
            .dropped(.start), Self.start(#","alert":{"title":"","body":""},"attributes":{}"#), token: Self.startToken)
        expect(.dropped(.start), Self.start(#","alert":{"title":"t"}"#), token: Self.startToken)
        expect(.dropped(.start), Self.start(complete + #","input-push-channel":"x""#), token: Self.startToken)
        phones.settings.channels = ["x"]
        let channel = complete + #","input-push-channel":"x""#
        expect(.dropped(.start), Self.start(channel + #","input-push-token":1"#), token: Self.startToken)
        phones.settings.systemMajorVersion = 17
        expect(.dropped(.start), Self.start(channel), token: Self.startToken)
        phones.settings.systemMajorVersion = 18
        expect(.alerted, Self.start(channel), token: Self.startToken)
        phones.settings.types["Other"] = .init(decodesContentState: { _ in true })
        expect(.dropped(.start), Self.start(complete), token: Self.startToken)
        phones.settings.types["Delivery"] = .init(decodesContentState: { _ in true }, decodesAttributes: { _ in false })
        expect(.dropped(.start), Self.start(complete), token: Self.startToken)
    }

    @Test("V8: five activities a phone, ten starts an hour")
    mutating func budget() {
        for _ in 0..<4 { expect(.alerted, Self.start(), token: Self.startToken) }
        expect(.dropped(.budget), Self.start(), token: Self.startToken)
        phones.settings.maxActivities = 100
        for _ in 0..<6 { expect(.alerted, Self.start(), token: Self.startToken) }
        expect(.dropped(.budget), Self.start(), token: Self.startToken)
        nowMilliseconds += 3_600_000
        expect(.alerted, Self.start(), token: Self.startToken)
    }

    @Test("V9: attributes and content-state together have 4096 bytes")
    mutating func size() {
        let attributes = String(repeating: "a", count: 4_096 - #"{"x":""}{"status":"new"}"#.utf8.count)
        let start = Self.start(#","alert":{"title":"t"},"attributes":{"x":"\#(attributes)"}"#)
        expect(.alerted, start, token: Self.startToken)
        expect(.dropped(.size), start.replacing("new", with: "news"), token: Self.startToken)
    }

    @Test("V10: priority 10 beyond the hourly budget is throttled, 5 is not counted")
    mutating func throttled() {
        phones.settings.maxUrgentPerHour = 1
        expect(.applied, Self.update(1), priority: 10)
        expect(.throttled, Self.update(2), priority: 10)
        expect(.applied, Self.update(3), priority: 5)
        nowMilliseconds += 3_600_000
        expect(.applied, Self.update(4), priority: 10)
    }

    @Test("V11, V16: an end is shown once, and nothing after it; its dismissal date decides until when")
    mutating func ends() {
        let end = #""timestamp":\#(Self.noonSeconds),"event":"end""#
        let outcome = receive(end + #","dismissal-date":\#(Self.noonSeconds + 60)"#)
        #expect(outcome.judgements == [.init(number: 0, verdict: .ended)])
        #expect(outcome.endedToken == Self.token)
        #expect(phones.activities[Self.token]?.removalAtMilliseconds == nowMilliseconds + 60_000)
        expect(.dropped(.ended), Self.update(1))
        for (dismissal, removal) in [
            ("", 4 * 3_600_000), (#","dismissal-date":1"#, 0), (#","dismissal-date":1795999999"#, 4 * 3_600_000),
        ] {
            phones.begin(updateToken: Self.token, atMilliseconds: nowMilliseconds)
            expect(.ended, end + dismissal)
            #expect(phones.activities[Self.token]?.removalAtMilliseconds == nowMilliseconds + Int64(removal))
        }
    }

    @Test("V11: after 8 hours, or once the user has dismissed it, an activity takes nothing")
    mutating func old() {
        nowMilliseconds += 8 * 3_600_000
        expect(.applied, Self.update(8 * 3_600))
        nowMilliseconds += 1
        expect(.dropped(.ended), Self.update(8 * 3_600 + 1))
        phones.begin(updateToken: Self.token, atMilliseconds: nowMilliseconds)
        phones.dismiss(Self.token, atMilliseconds: nowMilliseconds)
        expect(.dropped(.ended), Self.update(8 * 3_600 + 2))
    }

    @Test("V12: a start to an update token, an update to a start token")
    mutating func tokenKinds() {
        expect(.dropped(.tokenKind), Self.start())
        expect(.dropped(.tokenKind), Self.update(1), token: Self.startToken)
    }

    @Test("V13–V14: offline, one push a bundle id is kept; the next overwrites it, and its expiration ends it")
    mutating func offline() {
        phones.goOffline(device: "phone")
        expect(.dropped(.offline), Self.update(1), expirationSeconds: 0)
        expect(.stored, Self.update(2), expirationSeconds: Self.noonSeconds + 10)
        let second = receive(Self.update(3), expirationSeconds: nil)
        #expect(second.judgements == [.init(number: 1, verdict: .overwritten), .init(number: 2, verdict: .stored)])
        let delivered = phones.goOnline(device: "phone", atMilliseconds: nowMilliseconds + 60_000)
        #expect(delivered.flatMap(\.judgements) == [.init(number: 2, verdict: .applied)])
        phones.goOffline(device: "phone")
        expect(.stored, Self.update(4), expirationSeconds: Self.noonSeconds + 10)
        let expired = phones.goOnline(device: "phone", atMilliseconds: nowMilliseconds + 60_000)
        #expect(expired.flatMap(\.judgements) == [.init(number: 3, verdict: .expired)])
    }

    @Test("V17: a started activity reports its update token after a while, or never")
    mutating func tokenReports() {
        phones.reserve(updateToken: String(repeating: "EF", count: 64), activityIdentifier: "B")
        let outcome = receive(Self.start(), token: Self.startToken)
        let token = String(repeating: "ef", count: 64)
        #expect(outcome.begunToken == token)
        #expect(outcome.activityIdentifier == "B")
        #expect(phones.takeReports(atMilliseconds: nowMilliseconds + 1_999).isEmpty)
        #expect(phones.nextReportMilliseconds == nowMilliseconds + 2_000)
        #expect(phones.takeReports(atMilliseconds: nowMilliseconds + 2_000).map(\.token) == [token])
        #expect(phones.takeReports(atMilliseconds: nowMilliseconds + 9_000).isEmpty)
        expect(.applied, Self.update(1), token: token)
        phones.settings.updateTokenLossShare = 1
        expect(.alerted, Self.start(), token: Self.startToken)
        #expect(phones.nextReportMilliseconds == nil)
    }

    @Test("A token of which nothing is known gets a phone of its own")
    mutating func adopted() {
        let unknown = String(repeating: "99", count: 32)
        expect(.applied, Self.update(0), token: unknown)
        expect(.dropped(.outdated), Self.update(0), token: unknown)
    }

    @Test("Every verdict reads back from its name")
    func names() {
        let all: [Verdict] =
            [.applied, .alerted, .ended, .stored, .overwritten, .expired, .throttled]
            + Verdict.Drop.allCases.map { .dropped($0) }
        for verdict in all { #expect(Verdict(verdict.description) == verdict) }
        #expect(Verdict("dropped:else") == nil)
    }

    @Test("Nobody listens to a token that was replaced")
    mutating func formerToken() {
        let newToken = String(repeating: "ef", count: 80)
        phones.rotate(Self.token, to: newToken)
        expect(.dropped(.ended), Self.update())
        expect(.applied, Self.update(), token: newToken)
        #expect(phones.activities.count == 1)
        phones.rotate(newToken, to: Self.token)
        expect(.applied, Self.update(1))
    }

    @Test("V11: what the system ended after 8 hours is ended since then, and that is told once")
    mutating func endedBySystem() {
        expect(.applied, Self.update())
        nowMilliseconds += 9 * 3_600_000
        let outcome = receive(Self.update(9 * 3_600))
        #expect(outcome.judgements.map(\.verdict) == [.dropped(.ended)])
        #expect(outcome.endedToken == Self.token)
        #expect(outcome.endedAtMilliseconds == (Self.noonSeconds + 8 * 3_600) * 1_000)
        #expect(receive(Self.update(9 * 3_600 + 1)).endedToken == nil)
    }
}
