import Flow
import Telemetry

/// Writes the records of one activity: its lives with their starts, positions, changes and ends, and the noise between them.
struct RideWriter {
    let activity: Int
    let scenario: Scenario
    var random: SplitMix

    private var lines: [Script.Line] = []
    private var now: Int64 = 0
    private var journey: Journey
    private var tokens = 0
    private var alerts = 0
    private var progress = 0
    private var eta: Int64 = 0
    private var newestPositionAt: Int64?
    /// An absurd position may be borne out by a second one: so there is none before an honest one came.
    private var hasAbsurd = false
    private var published: [SimulatedEvent] = []
    private let skewMilliseconds: Int64
    private let mayProduceTwice: Bool

    init(activity: Int, scenario: Scenario, random: SplitMix) {
        self.activity = activity
        self.scenario = scenario
        self.random = random
        journey = Journey(&self.random)
        mayProduceTwice = scenario.pacing.maxActivityLifeMilliseconds == nil && scenario.subjects == 0
        skewMilliseconds = self.random.between(-2_500, 2_500)
    }

    mutating func write(subjectName: String?) -> [Script.Line] {
        now = random.between(0, 30_000)
        while now < scenario.recordingMilliseconds {
            newestPositionAt = nil
            hasAbsurd = false
            let follows = random.chance(percent: 60) ? subjectName : nil
            begin(follows: follows)
            let isToEnd = !scenario.splitsKinds && random.chance(percent: 70)
            let end =
                isToEnd
                ? random.between(now, max(now, scenario.recordingMilliseconds))
                : scenario.recordingMilliseconds
            let pace = random.pick([4_000, 6_000, 15_000, 40_000] as [Int64])
            while now < end {
                live(follows: follows != nil)
                now += random.between(pace / 2, pace * 3 / 2)
            }
            guard isToEnd else { break }
            finish()
            guard scenario.faults.contains(.restarted), random.chance(percent: 60) else { break }
            now += random.pick([0, 1_000, 20_000, 90_000] as [Int64])
        }
        return lines
    }

    // MARK: Beginning and end

    private mutating func begin(follows: String?) {
        progress = 0
        let content = JSONObject(
            ("status", .string("preparing")), ("note", .string("note \(random.below(3))")),
            ("driver", .object(JSONObject(("name", .string("Ada"))))))
        switch random.below(10) {
        case 0...5:
            publish(.activityStarted, start(content, .updateToken(token()), follows: follows))
        case 6...8:
            let target: StartTarget = isForUser ? .user(user()) : .startToken(token())
            publish(.activityStarted, start(content, target, follows: follows, alert: alert()))
        default:
            // Only an activity that nobody knows is begun by its first event; for another one that is noise after its end.
            guard published.isEmpty else {
                publish(.activityStarted, start(content, .updateToken(token()), follows: follows))
                return
            }
            if scenario.tokens != nil {
                lines.append(Script.Line(atMilliseconds: max(0, now - 1), step: .keepToken(activity: activity)))
            }
            publish(.status, EventDetail(app: app, contentState: content))
            now += random.between(0, 20_000)
            if random.chance(percent: 50) {
                // Whether it is the start or an echo depends on what the provider said meanwhile.
                publish(
                    .activityStarted,
                    start(content, .updateToken(token()), follows: follows, mayReplace: false))
            } else {
                publish(.token, EventDetail(target: .updateToken(token())))
            }
        }
    }

    private mutating func finish() {
        let content = random.chance(percent: 70) ? JSONObject(("status", .string("arrived"))) : nil
        let alert = random.chance(percent: 30) ? alert() : nil
        publish(.activityEnded, EventDetail(contentState: content, alert: alert, dismissal: .immediate))
        let lived = published.count
        for _ in 0..<random.below(3) {
            now += random.between(100, 5_000)
            if random.chance(percent: 50) { replay() } else { live(follows: true) }
        }
        // What was dropped, after the end or as noise, was not remembered: to a new life its repetition is news.
        published.removeLast(published.count - lived)
        published.removeAll { $0.nature == .noise }
    }

    private mutating func start(
        _ content: JSONObject, _ target: StartTarget, follows: String?, alert: Alert? = nil, mayReplace: Bool = true
    ) -> EventDetail {
        EventDetail(
            app: app, contentState: content, alert: alert, attributesType: "Ride",
            attributes: JSONObject(("number", .integer(Int64(activity)))), follows: follows, target: target,
            frequentUpdates: random.chance(percent: 30), replaces: mayReplace ? replaced() : nil)
    }

    private var isForUser: Bool { scenario.tokens != nil && activity % 3 != 2 }

    /// A life's own name of whoever holds the phone: the same again would be an echo.
    private mutating func user() -> String {
        tokens += 1
        return "anna-\(activity)-\(tokens)"
    }

    /// One of the others under the same key.
    private mutating func replaced() -> String? {
        guard scenario.tokens != nil, scenario.subjects > 0 || scenario.partitions == 1, random.chance(percent: 40)
        else {
            return nil
        }
        let other = random.below(scenario.activities)
        return other == activity ? nil : "ride-\(other)"
    }

    private var app: String { scenario.apps[activity % scenario.apps.count] }

    // MARK: Life

    private mutating func live(follows: Bool) {
        switch random.below(100) {
        case 0..<55: if follows { change() } else { move() }
        case 55..<72: change()
        case 72..<76:
            publish(.status, EventDetail(alert: alert()))
        case 76..<79:
            publish(.token, EventDetail(target: .none, frequentUpdates: random.chance(percent: 50)))
        case 79..<82:
            if scenario.faults.contains(.tokenRotated) {
                lines.append(Script.Line(atMilliseconds: now, step: .rotateToken(activity: activity)))
            }
        case 82..<92: replay()
        default: if follows { change() } else { noise() }
        }
    }

    private mutating func move() {
        journey.move(&random)
        var content: JSONObject?
        if random.chance(percent: 40) {
            progress += random.below(4)
            eta = random.pick([0, 0, 30, 59, 60, 200])
            content = JSONObject(
                ("etaTimestamp", .integer(1_800_000_000 + eta)), ("progressPercentage", .hundredths(progress)),
                ("odometer", .integer(Int64(random.below(100_000)))))
        }
        newestPositionAt = now
        hasAbsurd = false
        publish(.position, EventDetail(contentState: content), position: journey.position(&random))
    }

    private mutating func change() {
        var members: [JSONObject.Member] = []
        if random.chance(percent: 60) {
            members.append(
                JSONObject.Member(
                    name: "status", value: .string(random.pick(["preparing", "driving", "near", "waiting"]))))
        }
        if random.chance(percent: 40) {
            members.append(JSONObject.Member(name: "note", value: .string("note \(random.below(3))")))
        }
        if random.chance(percent: 15) {
            members.append(
                JSONObject.Member(
                    name: "driver",
                    value: random.chance(percent: 40)
                        ? .null : .object(JSONObject(("name", .string(random.pick(["Ada", "Bo"])))))))
        }
        if !scenario.splitsKinds, random.chance(percent: 20) {
            members.append(JSONObject.Member(name: "progressPercentage", value: .hundredths(random.below(100))))
        }
        let alert = random.chance(percent: 15) ? alert() : nil
        publish(.status, EventDetail(contentState: JSONObject(uniqueMembers: members), alert: alert))
    }

    // MARK: Noise

    private mutating func replay() {
        guard let newest = published.suffix(6).first(where: { $0.kind != .token }) else { return }
        // Where time alone ends lives the writer does not know what was dropped; and sixteen ids of a subject make an older one forgotten.
        let isRedelivery = !mayProduceTwice || random.chance(percent: 50)
        guard scenario.faults.contains(isRedelivery ? .redelivered : .producedTwice) else { return }
        var event = newest
        event.nature = .replay
        event.isRedelivery = isRedelivery
        lines.append(Script.Line(atMilliseconds: now, step: .record(event)))
    }

    private mutating func noise() {
        guard let newestPositionAt else { return }
        let isLate = random.chance(percent: 40)
        guard scenario.faults.contains(isLate ? .late : .absurdPosition) else { return }
        var position = journey.position(&random)
        var atMilliseconds = now
        switch isLate ? 0 : 1 + random.below(3) {
        case 0: atMilliseconds = newestPositionAt - random.between(1, 60_000)
        case 1: position.coordinate = Coordinate(latitude: 0, longitude: 0)
        case 2: position.accuracyMeters = 500
        default:
            guard !hasAbsurd, !scenario.isForGroup, now - newestPositionAt < 30_000 else { return }
            hasAbsurd = true
            position.coordinate.longitude += 3
        }
        publish(.position, EventDetail(), position: position, timestampAt: atMilliseconds, nature: .noise)
    }

    // MARK: Writing

    private mutating func publish(
        _ kind: Event.Kind, _ detail: EventDetail, position: Position = .none, timestampAt: Int64? = nil,
        nature: SimulatedEvent.Nature = .truth
    ) {
        let isBare = kind == .position && detail.contentState == nil
        let event = SimulatedEvent(
            nature: nature, kind: kind, name: activity,
            timestampMilliseconds: Clocks.beginMilliseconds + skewMilliseconds + (timestampAt ?? now),
            identifierHash: random.next() | 1, position: position, detail: isBare ? nil : detail)
        lines.append(Script.Line(atMilliseconds: now, step: .record(event)))
        published.append(event)
    }

    private mutating func token() -> PushToken {
        tokens += 1
        return PushToken(number: activity * 10_000 + tokens)
    }

    private mutating func alert() -> Alert {
        alerts += 1
        return Alert(number: alerts)
    }
}
