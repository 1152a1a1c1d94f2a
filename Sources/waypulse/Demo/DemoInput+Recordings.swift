import Configuration
import Flow
import Pacing
import Pipeline
import PushSimulator
import Streams
import Telemetry

extension DemoInput {
    /// Recordings of one's own. An activity that no event gives a target gets a token just before its first event; what phones should know
    /// in the end is what a plan of the same recording knows.
    static func recordings(_ paths: [String], _ configuration: Configuration) throws -> DemoInput {
        let survey = try Survey(paths, configuration)
        let script = try Script(paths, configuration, survey)
        return DemoInput(
            name: paths.joined(separator: ", "), lines: script.lines.bytes, registrations: script.registrations,
            expectations: try expectations(script, configuration),
            durationMilliseconds: script.durationMilliseconds)
    }

    private static func expectations(_ script: Script, _ configuration: Configuration) throws -> Expectations {
        let settings = try LaneSettings(configuration, planTargets: false, seed: 1)
        let recording = Recording(name: "recording", bytes: script.lines.bytes, apps: configuration.apps)
        let planner = Planner(settings: settings, recordings: MergedRecordings([recording]), onSend: { _, _ in })
        try planner.run()
        var states: [String: FinalState] = [:]
        for registration in script.registrations {
            guard let newest = planner.newest(of: registration.activityIdentifier) else { continue }
            states[registration.activityIdentifier] = FinalState(newest, script, registration)
        }
        return Expectations(
            finalStates: states,
            activityByToken: Dictionary(
                script.registrations.map { (Fingerprint.of(token: $0.token), $0.activityIdentifier) },
                uniquingKeysWith: { $1 }))
    }
}

extension FinalState {
    fileprivate init(_ newest: NewestState, _ script: Script, _ registration: FleetRegistration) {
        self.init()
        contentState = newest.contentState
        position = newest.position
        shownAtBegin = script.shownAtBegin[registration.activityIdentifier]
        isFrequent = newest.frequentUpdates
        hasTarget = newest.sequence > 0
        beganAtMilliseconds = script.firstMilliseconds[registration.activityIdentifier]
        rideAlongFields = newest.contentState.object.members.map { FieldPath(names: [$0.name]) }.filter {
            script.fieldsOfPositions.contains($0.description)
        }
        guard newest.hasEnded, script.ended.contains(registration.activityIdentifier) else { return }
        switch newest.dismissal {
        case .immediate?: ending = .immediate
        case .at(let milliseconds)?: ending = .at(milliseconds: milliseconds)
        case nil: ending = .plain
        }
    }
}

/// Which activities are given a target by an event.
private struct Survey {
    var withTarget: Set<String> = []

    init(_ paths: [String], _ configuration: Configuration) throws {
        let recordings = MergedRecordings(try paths.map { try Recording(path: $0, apps: configuration.apps) })
        while case .record(let record, _) = try recordings.next() {
            guard case .success(let event) = record.event, !event.isForSubject else { continue }
            let activity = String(decoding: event.identifier, as: UTF8.self)
            if let target = event.detail?.target, target != .none { withTarget.insert(activity) }
        }
    }
}

/// The recording as the demo plays it.
private struct Script {
    var lines = ByteBuffer()
    var registrations: [FleetRegistration] = []
    var durationMilliseconds: Int64 = 0
    var shownAtBegin: [String: ContentState] = [:]
    var firstMilliseconds: [String: Int64] = [:]
    var ended: Set<String> = []
    var fieldsOfPositions: Set<String> = []

    init(_ paths: [String], _ configuration: Configuration, _ survey: Survey) throws {
        let recordings = MergedRecordings(try paths.map { try Recording(path: $0, apps: configuration.apps) })
        var clock = RecordClock()
        var first: Int64?
        var seen: Set<String> = []
        while case .record(let record, _) = try recordings.next() {
            try clock.advance(to: record.time) { () throws(SourceFault) in try recordings.followingTimeMilliseconds() }
            let now = clock.nowMilliseconds ?? 0
            if clock.nowMilliseconds != nil, first == nil { first = now }
            if case .success(let event) = record.event, !event.isForSubject {
                let activity = String(decoding: event.identifier, as: UTF8.self)
                if seen.insert(activity).inserted {
                    firstMilliseconds[activity] = now
                    if !survey.withTarget.contains(activity) { giveToken(activity, at: now) }
                }
                note(event, activity, at: now)
            }
            write(record, at: now)
        }
        durationMilliseconds = (clock.nowMilliseconds ?? 0) - (first ?? 0)
    }

    /// An early token waits for its activity, so it begins nothing by itself.
    private mutating func giveToken(_ activity: String, at now: Int64) {
        let token = (0..<4 as Range<UInt64>).map { hexadecimal(KeyedHash(0x64_656D_6F, $0).hash(activity)) }.joined()
        register(.began, token, activity, type: "", at: now)
        lines.append(raw: #"{"receivedAt":"#)
        lines.append(secondsOfMilliseconds: now)
        lines.append(raw: #","value":{"type":"token","activityId":"#)
        lines.append(string: activity)
        lines.append(raw: #","timestamp":"#)
        lines.append(secondsOfMilliseconds: now)
        lines.append(raw: #","token":"#)
        lines.append(string: token)
        lines.append(raw: "}}\n")
    }

    private mutating func note(_ event: Event, _ activity: String, at now: Int64) {
        if event.kind == .activityEnded { ended.insert(activity) }
        guard let detail = event.detail else { return }
        if event.kind == .position {
            for member in detail.contentState?.members ?? [] { fieldsOfPositions.insert(member.name) }
        }
        switch detail.target {
        case .updateToken(let token):
            if event.kind == .activityStarted {
                var state = ContentState()
                if let patch = detail.contentState { state.apply(patch) }
                shownAtBegin[activity] = state
            }
            register(.began, hexadecimal(token), activity, type: detail.attributesType ?? "", at: now)
        case .startToken(let token):
            register(
                .start(updateToken: ""), hexadecimal(token), activity, type: detail.attributesType ?? "", at: now)
        case .none, .user, .channel: break
        }
    }

    private mutating func register(
        _ kind: FleetRegistration.Kind, _ token: String, _ activity: String, type: String, at now: Int64
    ) {
        registrations.append(
            FleetRegistration(
                kind: kind, token: token, activityIdentifier: activity, attributesType: type, atMilliseconds: now))
    }

    /// As it came; what no wrapper tells is not made up, but for the time, which merging has decided.
    private mutating func write(_ record: RecordingRecord, at now: Int64) {
        guard case .success = record.event else {
            lines.append(bytes: record.value)
            lines.append(raw: "\n")
            return
        }
        lines.append(raw: #"{"receivedAt":"#)
        lines.append(secondsOfMilliseconds: now)
        if record.offset >= 0 {
            lines.append(raw: #","partition":"#)
            lines.append(integer: Int(record.partition))
            lines.append(raw: #","offset":"#)
            lines.append(integer: record.offset)
        }
        lines.append(raw: #","value":"#)
        lines.append(bytes: record.value)
        lines.append(raw: "}\n")
    }
}

private func hexadecimal(_ token: PushToken) -> String {
    token.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

private func hexadecimal(_ word: UInt64) -> String {
    let digits = String(word, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
