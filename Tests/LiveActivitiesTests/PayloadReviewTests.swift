import LiveActivities
import Telemetry
import Testing

@Suite("Why APNs or a phone would not take a payload")
struct PayloadReviewTests {
    private static let now: Int64 = 1_795_953_600

    private func findings(_ text: String, _ type: ActivityTypeSettings? = nil) -> [String] {
        Array(text.utf8).withUnsafeBytes { bytes in
            PayloadReview.findings(in: bytes, type: type, nowSeconds: Self.now)
                .map { "\($0.weight.rawValue) \($0.place)" }
        }
    }

    private static let start =
        #"{"aps":{"timestamp":1795953600,"event":"start","attributes-type":"CourierAttributes","attributes":{"orderId":"A17"},"content-state":{"status":"picked up"},"input-push-token":1,"alert":{"title":"On its way","body":"x","sound":"default"}}}"#
    private static let update =
        #"{"aps":{"timestamp":1795953600,"event":"update","stale-date":1795954500,"content-state":{"status":"near"}},"own":1}"#
    private static let end =
        #"{"aps":{"timestamp":1795953600,"event":"end","dismissal-date":1795953000,"content-state":{"status":"done"}}}"#

    @Test("What is right has no finding", arguments: [start, update, end])
    func right(text: String) { #expect(findings(text) == []) }

    /// Each is one of the right ones with a single thing changed.
    @Test(
        "One thing that is wrong, one finding",
        arguments: [
            (update, #""event":"update","#, "", "dropped aps.event"),
            (update, #""update""#, #""Update""#, "dropped aps.event"),
            (update, #""timestamp":1795953600,"#, "", "dropped aps.timestamp"),
            (update, #":1795953600"#, ":1795953600000", "dropped aps.timestamp"),
            (update, #":1795953600"#, #":"1795953600""#, "dropped aps.timestamp"),
            (update, #":1795953600"#, ":1795990000", "dropped aps.timestamp"),
            (update, #":1795953600"#, ":1795953900", "doubtful aps.timestamp"),
            (update, #":1795953600"#, ":1795953000", "doubtful aps.timestamp"),
            (update, "1795954500", "1795954500000", "dropped aps.stale-date"),
            (update, "1795954500", "1795953000", "doubtful aps.stale-date"),
            (update, #""content-state":{"status":"near"}"#, #""content-state":"near""#, "dropped aps.content-state"),
            (update, #""content-state":{"status":"near"}"#, #""relevance-score":1"#, "dropped aps.content-state"),
            (
                update, #"{"status":"near"}"#, #"{"eta":{"arrivalDate":"2026-11-29"}}"#,
                "doubtful aps.content-state.eta.arrivalDate"
            ),
            (update, #"{"status":"near"}"#, #"{"arrivalDate":1795954020}"#, "doubtful aps.content-state.arrivalDate"),
            (update, #""event""#, #""sound":"default","event""#, "doubtful aps.sound"),
            (update, #""event""#, #""attributes":{},"event""#, "doubtful aps.attributes"),
            (update, #""event""#, #""relevance-score":"high","event""#, "dropped aps.relevance-score"),
            (update, #""event""#, #""dismissal-date":1795954000,"event""#, "doubtful aps.dismissal-date"),
            (update, #""event""#, #""alert":{"title":7},"event""#, "dropped aps.alert.title"),
            (end, "1795953000", "1795953000000", "dropped aps.dismissal-date"),
            (end, "1795953000", "1795983000", "doubtful aps.dismissal-date"),
            (end, #","content-state":{"status":"done"}"#, "", "doubtful aps.content-state"),
            (start, #","alert":{"title":"On its way","body":"x","sound":"default"}"#, "", "dropped aps.alert"),
            (start, #""title":"On its way","body":"x","#, #""title":"","#, "dropped aps.alert"),
            (start, #""attributes-type":"CourierAttributes","#, "", "dropped aps.attributes-type"),
            (start, #""attributes":{"orderId":"A17"},"#, "", "dropped aps.attributes"),
            (start, #""input-push-token":1,"#, "", "doubtful aps.input-push-token"),
            (start, #""input-push-token":1"#, #""input-push-token":true"#, "doubtful aps.input-push-token"),
            (
                start, #""input-push-token":1"#, #""input-push-token":1,"input-push-channel":"AAAA""#,
                "dropped aps.input-push-token"
            ),
            (start, #""sound":"default""#, #""sound":1"#, "dropped aps.alert.sound"),
        ])
    func wrong(text: String, part: String, replacement: String, finding: String) {
        let pieces = text.split(separator: part, maxSplits: 1, omittingEmptySubsequences: false)
        #expect(pieces.count == 2, "\(part) does not stand in it")
        #expect(findings(pieces.joined(separator: replacement)) == [finding])
    }

    @Test("Sizes: the body by APNs, attributes and state by the phone")
    func sizes() {
        let long = String(repeating: "x", count: 4_100)
        #expect(findings(Self.update.replacing("near", with: long)) == ["refused "])
        #expect(findings(Self.start.replacing("A17", with: long)) == ["refused ", "dropped aps.attributes"])
        #expect(findings("") == ["refused "])
        #expect(findings("{") == ["dropped "])
        #expect(findings("{}") == ["dropped aps"])
    }

    @Test("What the app cannot decode, where a schema says so")
    func schema() throws {
        let schema = try #require(
            Array(#"{"type":"object","required":["status"],"properties":{"status":{"enum":["near","done"]}}}"#.utf8)
                .withUnsafeBytes { try? JSONParser.parse($0) })
        let type = try ActivityTypeSettings(contentStateSchema: schema)
        #expect(findings(Self.update, type) == [])
        #expect(findings(Self.update.replacing("near", with: "far"), type) == ["dropped aps.content-state"])
        #expect(findings(Self.update.replacing("status", with: "stand"), type) == ["dropped aps.content-state"])
    }

    @Test("What Waypulse itself writes has no finding")
    func own() throws {
        for event in Push.Event.allCases {
            var buffer = ByteBuffer(capacity: 512)
            _ = try PayloadWriter.write(
                Push(
                    event: event, activityIdentifier: "a", attributesType: "CourierAttributes",
                    timestampSeconds: Self.now, contentState: ContentState(),
                    staleDateSeconds: Self.now + 900, dismissal: event == .end ? .immediate : nil,
                    alert: Alert(title: .string("x"), body: nil, sound: nil)),
                .plain, into: &buffer)
            #expect(findings(buffer.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }) == [])
        }
    }
}
