import Telemetry

/// Somebody's own recording, made fit for the simulator: which tokens it uses, what the phones should know in the end, and a token for each
/// activity that has none, since nothing can be pushed to it otherwise.
public struct RecordedFleet: Sendable {
    /// The recording, an `activity.started` with an invented token put before the first event of each activity without a target.
    public let lines: [UInt8]
    public let registrations: [FleetRegistration]
    public let expectations: Expectations
    /// Activities that were given a token.
    public let adopted: [String]

    /// - Parameter lines: JSON lines, bare or wrapped. Lines that cannot be used are kept for whoever reads the recording.
    public init(
        lines: [UInt8], apps: [String] = [], rules: SanityRules = SanityRules(),
        attributesType: String = "RecordedAttributes"
    ) {
        let split = lines.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true).map(Array.init)
        var survey = Survey(attributesType: attributesType)
        var clock = RecordClock()
        RecordedFleet.forEachEvent(in: split, apps: apps) { index, event, received in
            survey.take(event, line: index, atMilliseconds: clock.advance(to: event, received: received))
        }
        var output: [UInt8] = []
        output.reserveCapacity(lines.count)
        let starts = survey.startsByLine()
        for (index, line) in split.enumerated() {
            for start in starts[index] ?? [] { output += start + [UInt8(ascii: "\n")] }
            output += line + [UInt8(ascii: "\n")]
        }
        self.lines = output
        registrations = survey.allRegistrations()
        adopted = survey.orphans.map(\.activity)
        var builder = FinalStateBuilder(rules: rules)
        clock = RecordClock()
        let rewritten = output.split(separator: UInt8(ascii: "\n")).map(Array.init)
        RecordedFleet.forEachEvent(in: rewritten, apps: apps) { _, event, received in
            builder.apply(event, nowMilliseconds: clock.advance(to: event, received: received))
        }
        var expectations = Expectations(finalStates: builder.finalStates)
        for registration in registrations { expectations.know(registration) }
        self.expectations = expectations
    }

    private static func forEachEvent(
        in lines: [[UInt8]], apps: [String], _ body: (Int, borrowing Event, Int64?) -> Void
    ) {
        var decoder = EventDecoder(apps: apps)
        for (index, line) in lines.enumerated() {
            line.withUnsafeBytes { bytes in
                guard let record = try? RecordingLine.parse(bytes), let event = try? decoder.decode(record.value) else {
                    return
                }
                body(index, event, record.receivedAtMilliseconds)
            }
        }
    }
}

extension RecordedFleet {
    /// A record's time is its arrival, else its timestamp; now is the largest seen, but no event alone moves it by more than a day.
    private struct RecordClock {
        private var nowMilliseconds: Int64?

        mutating func advance(to event: borrowing Event, received: Int64?) -> Int64 {
            let time = received ?? event.timestampMilliseconds
            guard let now = nowMilliseconds else {
                nowMilliseconds = time
                return time
            }
            if received != nil || time - now <= 86_400_000 { nowMilliseconds = max(now, time) }
            return max(now, nowMilliseconds ?? now)
        }
    }

    /// What a recording says of targets.
    private struct Survey {
        struct Orphan {
            let activity: String
            let line: Int
            let timestampMilliseconds: Int64
            let receivedAtMilliseconds: Int64
        }

        private enum Target {
            case none
            case start(token: String, registration: Int)
            case update(token: String)
        }

        let attributesType: String
        private var targets: [String: Target] = [:]
        private var firstSeen: [Orphan] = []
        private var registrations: [FleetRegistration] = []
        private var ended: Set<String> = []

        init(attributesType: String) {
            self.attributesType = attributesType
        }

        var orphans: [Orphan] {
            firstSeen.filter { orphan in
                if case .none? = targets[orphan.activity] { true } else { false }
            }
        }

        mutating func take(_ event: borrowing Event, line: Int, atMilliseconds now: Int64) {
            guard !event.isForSubject else { return }
            let activity = String(decoding: event.identifier, as: UTF8.self)
            if targets[activity] == nil {
                targets[activity] = Target.none
                firstSeen.append(
                    Orphan(
                        activity: activity, line: line, timestampMilliseconds: event.timestampMilliseconds,
                        receivedAtMilliseconds: now))
            }
            if event.kind == .activityEnded { ended.insert(activity) }
            // After an end a start begins another card, on which nothing of the old one's tokens is known.
            if event.kind == .activityStarted, event.detail?.target ?? .none != .none, ended.remove(activity) != nil {
                targets[activity] = Target.none
            }
            switch event.detail?.target {
            case .updateToken(let token)?: update(activity, token.hex, event.detail?.attributesType, now)
            case .startToken(let token)?:
                guard case .none? = targets[activity] else { return }
                targets[activity] = .start(token: token.hex, registration: registrations.count)
                add(.start(updateToken: invented(activity)), token.hex, activity, event.detail?.attributesType, now)
            default: break
            }
        }

        private mutating func update(_ activity: String, _ token: String, _ type: String?, _ now: Int64) {
            switch targets[activity] {
            case .start(let startToken, let index)?:
                let old = registrations[index]
                registrations[index] = FleetRegistration(
                    kind: .start(updateToken: token), token: startToken, activityIdentifier: activity,
                    attributesType: old.attributesType, atMilliseconds: old.atMilliseconds)
            case .update(let old)? where old != token: add(.replaces(token: old), token, activity, type, now)
            case .update?: break
            default: add(.began, token, activity, type, now)
            }
            targets[activity] = .update(token: token)
        }

        private mutating func add(
            _ kind: FleetRegistration.Kind, _ token: String, _ activity: String, _ type: String?, _ now: Int64
        ) {
            // A moment early: the simulator must know a token before anything can be sent to it.
            registrations.append(
                FleetRegistration(
                    kind: kind, token: token, activityIdentifier: activity, attributesType: type ?? attributesType,
                    atMilliseconds: now - 1))
        }

        func allRegistrations() -> [FleetRegistration] {
            registrations
                + orphans.map { orphan in
                    FleetRegistration(
                        kind: .began, token: invented(orphan.activity), activityIdentifier: orphan.activity,
                        attributesType: attributesType, atMilliseconds: orphan.receivedAtMilliseconds - 1)
                }
        }

        func startsByLine() -> [Int: [[UInt8]]] {
            orphans.reduce(into: [:]) { starts, orphan in
                var event = JSONObject()
                event["type"] = .string("activity.started")
                event["activityId"] = .string(orphan.activity)
                event["timestamp"] = .number(JSONNumber(secondsOfMilliseconds: orphan.timestampMilliseconds))
                event["attributesType"] = .string(attributesType)
                event["token"] = .string(invented(orphan.activity))
                var line = JSONObject()
                line["key"] = .string(orphan.activity)
                line["receivedAt"] = .number(JSONNumber(secondsOfMilliseconds: orphan.receivedAtMilliseconds))
                line["value"] = .object(event)
                starts[orphan.line, default: []].append(JSONDocument.bytes(of: .object(line)))
            }
        }

        private func invented(_ activity: String) -> String {
            var random = SeededRandom(seed: KeyedHash.stored.hash(activity))
            return random.hex(digits: 128)
        }
    }
}

extension PushToken {
    var hex: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension Expectations {
    /// Whose the tokens of a registration are.
    mutating func know(_ registration: FleetRegistration) {
        activityByToken[Fingerprint.of(token: registration.token)] = registration.activityIdentifier
        if case .start(let updateToken) = registration.kind {
            activityByToken[Fingerprint.of(token: updateToken)] = registration.activityIdentifier
        }
    }
}
