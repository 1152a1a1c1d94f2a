import Configuration
import Flow
import Pipeline
import PushSimulator
import Streams
import Telemetry

extension DemoInput {
    /// Recordings of one's own, merged. What phones should know in the end is worked out without pacing.
    static func recordings(_ paths: [String], _ configuration: Configuration) throws -> DemoInput {
        let recordings = MergedRecordings(try paths.map { try Recording(path: $0, apps: configuration.apps) })
        var lines = ByteBuffer()
        var clock = RecordClock()
        var first: Int64?
        while case .record(let record, _) = try recordings.next() {
            try clock.advance(to: record.time) { () throws(SourceFault) in try recordings.followingTimeMilliseconds() }
            if first == nil { first = clock.nowMilliseconds }
            write(record, atMilliseconds: clock.nowMilliseconds ?? 0, to: &lines)
        }
        let fleet = RecordedFleet(lines: lines.bytes, apps: configuration.apps, rules: SanityRules(configuration))
        return DemoInput(
            name: paths.joined(separator: ", "), lines: fleet.lines, registrations: fleet.registrations,
            expectations: fleet.expectations, durationMilliseconds: (clock.nowMilliseconds ?? 0) - (first ?? 0))
    }

    /// As it came, but for the time, which merging has decided; what cannot be used stays as it is.
    private static func write(_ record: RecordingRecord, atMilliseconds now: Int64, to lines: inout ByteBuffer) {
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

extension SanityRules {
    /// Those of activities without a type of their own.
    fileprivate init(_ configuration: Configuration) {
        self.init()
        let options = Options.pacing
        maxAccuracyMeters = configuration[options.maxAccuracyMeters]
        maxSpeedMetersPerSecond = configuration[options.maxSpeedMetersPerSecond]
        reanchorAfterMilliseconds = configuration[options.reanchorAfter]
        maxAgeMilliseconds = configuration[options.maxAge]
        maxFutureMilliseconds = configuration[options.maxFuture]
        allowsNullIsland = configuration[options.allowNullIsland]
    }
}
