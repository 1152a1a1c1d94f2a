import Telemetry

/// Reads a finished payload as APNs and a phone would, and lists what they would not take: the first tells so, the other drops it without a word
/// after a 200.
///
/// Sources: Apple, "Starting and updating Live Activities with ActivityKit push notifications", "Generating a remote notification" and
/// "Displaying live data with Live Activities".
public struct PayloadReview {
    public struct Finding: Equatable, Sendable {
        public enum Weight: String, Sendable {
            /// APNs answers with an error.
            case refused
            /// APNs answers 200, and nothing is shown.
            case dropped
            /// It may work, and is most likely a mistake.
            case doubtful
        }

        public let weight: Weight
        /// As in `aps.content-state.status`; empty for the whole.
        public let place: String
        public let explanation: String
    }

    /// What no payload shows, and what makes a phone drop it all the same.
    public static let unseen = [
        "the token: an update needs the activity's update token, a start the push-to-start token, both of the environment that it is sent to",
        "the topic: apns-topic is the bundle id and .push-type.liveactivity, apns-push-type is liveactivity",
        "the phone's newest timestamp: a push that is not newer is ignored",
        "the activity: dropped once it has ended, was dismissed, or is 8 hours old",
        "the budget: about ten starts in a short time; priority 10 beyond the phone's hourly share is held back, 5 is not counted",
        "the phone: offline with apns-expiration 0, or another push of the same app took its one slot",
        "the app: Live Activities switched off, or an attributes type of another name than the installed version has",
    ]

    private let type: ActivityTypeSettings?
    private let nowSeconds: Int64
    private(set) var findings: [Finding] = []

    private static let keys: Set<String> = [
        "timestamp", "event", "content-state", "attributes-type", "attributes", "alert", "stale-date", "dismissal-date",
        "relevance-score", "input-push-token", "input-push-channel",
    ]

    /// - Parameters:
    ///   - type: what is configured for the attributes type; nil checks against no schema.
    ///   - nowSeconds: Unix time at which it would be sent.
    public static func findings(
        in payload: UnsafeRawBufferPointer, type: ActivityTypeSettings?, nowSeconds: Int64
    ) -> [Finding] {
        var review = PayloadReview(type: type, nowSeconds: nowSeconds)
        review.review(payload)
        return review.findings
    }

    private init(type: ActivityTypeSettings?, nowSeconds: Int64) {
        self.type = type
        self.nowSeconds = nowSeconds
    }

    private mutating func note(_ weight: Finding.Weight, _ place: String, _ explanation: String) {
        findings.append(Finding(weight: weight, place: place, explanation: explanation))
    }

    private mutating func review(_ payload: UnsafeRawBufferPointer) {
        guard !payload.isEmpty else { return note(.refused, "", "is empty: 400 PayloadEmpty") }
        if payload.count > PayloadWriter.deviceLimitBytes {
            note(.refused, "", "has \(payload.count) bytes, 4096 are allowed: 413 PayloadTooLarge")
        }
        guard let document = try? JSONParser.parse(payload), let object = document.asObject else {
            return note(.dropped, "", "is no JSON object")
        }
        guard let aps = object["aps"]?.asObject else { return note(.dropped, "aps", "is missing, or no object") }
        guard let event = event(aps) else { return }
        checkTimes(aps, event)
        checkContent(aps, event)
        if event == .start { checkStart(aps) } else { checkNoStart(aps) }
        checkAlert(aps, event)
        if let score = aps["relevance-score"], score.asDouble == nil {
            note(.dropped, "aps.relevance-score", "is no number")
        }
        for member in aps.members where !Self.keys.contains(member.name) {
            note(
                .doubtful, "aps.\(member.name)",
                member.name == "sound"
                    ? "belongs into alert: beside it a Live Activity stays silent"
                    : "is no key of Live Activities and is ignored; data of one's own belongs beside aps")
        }
    }

    private mutating func event(_ aps: JSONObject) -> Push.Event? {
        switch aps["event"]?.asString {
        case "start": return .start
        case "update": return .update
        case "end": return .end
        case nil: note(.dropped, "aps.event", "is missing; start, update or end")
        case let other?: note(.dropped, "aps.event", "\"\(other)\" is none of start, update, end")
        }
        return nil
    }

    // MARK: Times

    private mutating func checkTimes(_ aps: JSONObject, _ event: Push.Event) {
        if let timestamp = seconds(aps, "timestamp", isRequired: true) {
            if timestamp > nowSeconds + 8 * 3_600 {
                note(.dropped, "aps.timestamp", "lies more than 8 hours in the future")
            } else if timestamp > nowSeconds + 60 {
                note(
                    .doubtful, "aps.timestamp",
                    "lies \(timestamp - nowSeconds) s in the future: until then honest updates are ignored")
            } else if timestamp < nowSeconds - 60 {
                note(
                    .doubtful, "aps.timestamp",
                    "is \(nowSeconds - timestamp) s old: phones have dropped what is minutes old; stamp it when it is sent"
                )
            }
        }
        if let stale = seconds(aps, "stale-date", isRequired: false), stale <= nowSeconds {
            note(.doubtful, "aps.stale-date", "is over: the card is shown as stale at once")
        }
        if let dismissal = seconds(aps, "dismissal-date", isRequired: false) {
            if event != .end { note(.doubtful, "aps.dismissal-date", "means nothing but with an end") }
            if event == .end, dismissal > nowSeconds + 4 * 3_600 {
                note(.doubtful, "aps.dismissal-date", "lies more than 4 hours ahead: the card goes after 4")
            }
        }
    }

    private mutating func seconds(_ aps: JSONObject, _ key: String, isRequired: Bool) -> Int64? {
        guard let value = aps[key] else {
            if isRequired { note(.dropped, "aps.\(key)", "is missing") }
            return nil
        }
        guard let number = value.asDouble, number.magnitude < 1e15 else {
            note(.dropped, "aps.\(key)", "is no number of seconds since 1970")
            return nil
        }
        if number >= 1e11 {
            note(.dropped, "aps.\(key)", "looks like milliseconds; seconds since 1970 are due")
            return nil
        }
        if key == "timestamp", number != number.rounded() { note(.doubtful, "aps.\(key)", "is no whole number") }
        // Dates of Swift's own begin in 2001, and 978,307,200 seconds later than those of Unix.
        if number > 0, number < 978_307_200 {
            note(.doubtful, "aps.\(key)", "lies before 2001: seconds since 1970 are due here, not Swift's since 2001")
        }
        return Int64(number)
    }

    // MARK: Content

    private mutating func checkContent(_ aps: JSONObject, _ event: Push.Event) {
        guard let value = aps["content-state"] else {
            return note(
                event == .end ? .doubtful : .dropped, "aps.content-state",
                event == .end
                    ? "is missing: the card keeps its last state" : "is missing, and nothing is merged on a phone")
        }
        guard let state = value.asObject else { return note(.dropped, "aps.content-state", "is no object") }
        if let mismatch = type?.contentStateSchema.check(state) {
            note(
                .dropped, "aps.content-state",
                "does not fit its schema, so the app cannot decode it: \(mismatch.explanation)")
        }
        checkDates(state, "aps.content-state")
        if event == .start, let attributes = aps["attributes"]?.asObject {
            let bytes = size(.object(attributes)) + size(value)
            if bytes > PayloadWriter.phoneLimitBytes {
                note(.dropped, "aps.attributes", "has \(bytes) bytes with content-state, a phone holds 4096")
            }
        }
    }

    /// Names that sound like a date, with a value that Swift's decoder would take for another one, or for none.
    private mutating func checkDates(_ object: JSONObject, _ place: String) {
        for member in object.members {
            if let inner = member.value.asObject { checkDates(inner, "\(place).\(member.name)") }
            guard member.name.lowercased().hasSuffix("date") else { continue }
            if let number = member.value.asDouble, number > 978_307_200 {
                note(
                    .doubtful, "\(place).\(member.name)",
                    "if it is a Date in Swift it counts from 2001: this one would be in \(2001 + Int(min(number / 31_556_952, 99_999)))"
                )
            } else if member.value.asString != nil {
                note(
                    .doubtful, "\(place).\(member.name)",
                    "if it is a Date in Swift, text fails the whole push: seconds since 2001 are due")
            }
        }
    }

    private func size(_ value: JSONValue) -> Int {
        var buffer = ByteBuffer(capacity: 1_024)
        buffer.append(value)
        return buffer.count
    }

    // MARK: Starts

    private mutating func checkStart(_ aps: JSONObject) {
        switch aps["attributes-type"]?.asString {
        case nil, ""?:
            note(
                .dropped, "aps.attributes-type",
                "is missing: the name of the Swift type, exactly as the app declares it")
        default: break
        }
        if let attributes = aps["attributes"]?.asObject {
            if let mismatch = type?.attributesSchema.check(attributes) {
                note(
                    .dropped, "aps.attributes",
                    "do not fit their schema, so the app cannot decode them: \(mismatch.explanation)")
            }
            checkDates(attributes, "aps.attributes")
        } else {
            note(.dropped, "aps.attributes", "is missing, or no object; {} where the type has no fields")
        }
        switch (aps["input-push-token"], aps["input-push-channel"]) {
        case (nil, nil):
            note(
                .doubtful, "aps.input-push-token",
                "is missing, and input-push-channel too: from iOS 18 on the activity gets no updates; write the number 1"
            )
        case (.some, .some):
            note(.dropped, "aps.input-push-token", "stands beside input-push-channel; one of them")
        case (let token?, nil) where token.asDouble != 1:
            note(.doubtful, "aps.input-push-token", "is not the number 1")
        case (nil, let channel?) where channel.asString == nil:
            note(.dropped, "aps.input-push-channel", "is no text")
        default: break
        }
    }

    private mutating func checkNoStart(_ aps: JSONObject) {
        for key in ["attributes-type", "attributes", "input-push-token", "input-push-channel"] where aps[key] != nil {
            note(.doubtful, "aps.\(key)", "means nothing but with a start: attributes never change")
        }
    }

    // MARK: Alerts

    private mutating func checkAlert(_ aps: JSONObject, _ event: Push.Event) {
        guard let alert = aps["alert"] else {
            if event == .start { note(.dropped, "aps.alert", "is missing: a start without one shows nothing") }
            return
        }
        if let text = alert.asString {
            if text.isEmpty, event == .start {
                note(.dropped, "aps.alert", "is empty: a start with that shows nothing")
            }
            return
        }
        guard let object = alert.asObject else { return note(.dropped, "aps.alert", "is neither text nor an object") }
        var hasText = false
        for key in ["title", "body"] {
            guard let value = object[key] else { continue }
            if let text = value.asString {
                hasText = hasText || !text.isEmpty
            } else if value.asObject?["loc-key"]?.asString != nil {
                hasText = true
            } else {
                note(.dropped, "aps.alert.\(key)", "is neither text nor {\"loc-key\": text, \"loc-args\": [text]}")
            }
        }
        let isLocalised = object["loc-key"] != nil || object["title-loc-key"] != nil
        if !hasText, !isLocalised, event == .start {
            note(.dropped, "aps.alert", "has neither title nor body: a start with that shows nothing")
        }
        if let sound = object["sound"], sound.asString == nil { note(.dropped, "aps.alert.sound", "is no text") }
    }
}
