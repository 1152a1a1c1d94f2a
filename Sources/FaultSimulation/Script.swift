import Flow
import Telemetry

/// What producers publish and phones do by themselves in a world: drawn before it begins.
struct Script {
    enum Step {
        case record(SimulatedEvent)
        case rotateToken(activity: Int)
        /// An update token is registered for an activity that has not begun.
        case keepToken(activity: Int)
    }

    struct Line {
        /// On the recording's clock, from its beginning.
        let atMilliseconds: Int64
        let step: Step
    }

    /// In the order of time.
    let lines: [Line]
    let names: Names

    init(_ scenario: Scenario, _ random: inout SplitMix) {
        names = Names(
            (0..<scenario.activities).map { "ride-\($0)" } + (0..<scenario.subjects).map { "bus-\($0)" })
        var lines: [Line] = []
        for activity in 0..<scenario.activities {
            var writer = RideWriter(activity: activity, scenario: scenario, random: random.fork())
            lines += writer.write(subjectName: scenario.subjects > 0 ? names.texts[scenario.activities] : nil)
        }
        for subject in 0..<scenario.subjects {
            var writer = SubjectWriter(name: scenario.activities + subject, scenario: scenario, random: random.fork())
            lines += writer.write()
        }
        let inOrder = lines.enumerated().sorted {
            ($0.element.atMilliseconds, $0.offset) < ($1.element.atMilliseconds, $1.offset)
        }
        self.lines = inOrder.map(\.element)
    }
}

/// A vehicle that crosses the deadband now and then, stays just inside it, or stands.
struct Journey {
    private(set) var latitude: Double
    private(set) var longitude = 11.5
    private let metersPerDegree = Coordinate.earthRadiusMeters * Double.pi / 180

    init(_ random: inout SplitMix) {
        latitude = 48 + Double(random.below(1_000)) / 1_000
    }

    mutating func move(_ random: inout SplitMix) {
        let meters = Double(random.pick([0, 5, 30, 70, 74, 76, 80, 120, 150] as [Int64]))
        latitude += (random.chance(percent: 70) ? meters : -meters) / metersPerDegree
    }

    func position(_ random: inout SplitMix) -> Position {
        Position(
            coordinate: Coordinate(latitude: latitude, longitude: longitude),
            accuracyMeters: random.chance(percent: 50) ? Double(random.pick([5, 20, 60, 110] as [Int64])) : .nan)
    }
}

/// A subject's own records: positions, now and then with content, and its status.
private struct SubjectWriter {
    let name: Int
    let scenario: Scenario
    var random: SplitMix

    mutating func write() -> [Script.Line] {
        var lines: [Script.Line] = []
        var journey = Journey(&random)
        var now: Int64 = random.between(0, 20_000)
        while now < scenario.recordingMilliseconds {
            var event: SimulatedEvent
            if random.chance(percent: 12) {
                event = SimulatedEvent(
                    kind: .status, name: name, timestampMilliseconds: Clocks.beginMilliseconds + now,
                    identifierHash: random.next() | 1,
                    detail: EventDetail(
                        contentState: JSONObject(("status", .string(random.pick(["moving", "halted"]))))))
            } else {
                journey.move(&random)
                event = SimulatedEvent(
                    kind: .position, name: name, timestampMilliseconds: Clocks.beginMilliseconds + now,
                    identifierHash: random.next() | 1, position: journey.position(&random))
            }
            event.isForSubject = true
            lines.append(Script.Line(atMilliseconds: now, step: .record(event)))
            now += random.between(2_500, 25_000)
        }
        return lines
    }
}

extension JSONObject {
    init(_ members: (String, JSONValue)...) {
        self.init(uniqueMembers: members.map { Member(name: $0.0, value: $0.1) })
    }
}

extension JSONValue {
    static func integer(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }
    static func hundredths(_ value: Int) -> JSONValue {
        let digits = String(value % 100)
        return .number(
            JSONNumber(
                double: Double(value) / 100,
                text: "\(value / 100).\(digits.count == 1 ? "0" + digits : digits)"))
    }
}
