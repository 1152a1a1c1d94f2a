import Configuration
import Glibc
import Streams
import Telemetry

/// Which dead letters a command is about.
struct DlqFilter {
    private static let reason = Flag(
        "--reason", value: "REASON",
        "Only those for that reason, for example not_json or missing_field; may be repeated")
    private static let stage = Flag(
        "--stage", value: "STAGE", "Only those that failed there: decode, schema, pacing or push")
    private static let activity = Flag(
        "--activity", value: "ID", "Only those whose activityId, subjectId or key is that")
    private static let partition = Flag("--partition", value: "N", "Only those of that partition")
    private static let since = Flag(
        "--since", value: "TIME", "Only those that failed since then: 1h (ago), or 2026-11-30T12:00:00Z")
    private static let until = Flag("--until", value: "TIME", "Only those that failed before then")
    private static let letter = Flag("--letter", value: "ID", "Only that one: the first word of its line in dlq list")
    static let flags: [Flag] = [letter, reason, stage, activity, partition, since, until]

    private let reasons: [String]
    private let stage: DeadLetter.Stage?
    private let activity: String?
    let partition: Int32?
    private let sinceMilliseconds: Int64?
    private let untilMilliseconds: Int64?
    let letter: String?

    init(_ arguments: Arguments) throws {
        reasons = arguments.all(Self.reason)
        stage = try arguments.value(Self.stage).map { text in
            guard let stage = DeadLetter.Stage(rawValue: text) else {
                let words = DeadLetter.Stage.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFault(.usage, "--stage is one of \(words), not \"\(text)\"")
            }
            return stage
        }
        activity = arguments.value(Self.activity)
        partition =
            arguments.has(Self.partition)
            ? Int32(try arguments.integer(Self.partition, default: 0, in: 0...Int(Int32.max))) : nil
        sinceMilliseconds = try Self.time(arguments, Self.since)
        untilMilliseconds = try Self.time(arguments, Self.until)
        letter = arguments.value(Self.letter)
    }

    /// A length of time counts back from now.
    private static func time(_ arguments: Arguments, _ flag: Flag) throws -> Int64? {
        guard var text = arguments.value(flag) else { return nil }
        if let moment = text.withUTF8({ Timestamp.milliseconds(rfc3339: UnsafeRawBufferPointer($0)) }) { return moment }
        guard let length = try? Quantity.milliseconds(text) else {
            throw CommandFault(
                .usage, "\(flag.name): \"\(text)\" is no time",
                remedy: "\(flag.name) 1h, or \(flag.name) 2026-11-30T12:00:00Z")
        }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1000 - length
    }

    func takes(_ letter: DeadLetter, identifier: String) -> Bool {
        if let wanted = self.letter, wanted != identifier { return false }
        if let partition, letter.partition != partition { return false }
        if let stage, letter.stage != stage { return false }
        if let sinceMilliseconds, letter.firstFailedAtMilliseconds < sinceMilliseconds { return false }
        if let untilMilliseconds, letter.firstFailedAtMilliseconds >= untilMilliseconds { return false }
        guard reasons.isEmpty || reasons.contains(where: { letter.reason == $0 || letter.reason.hasPrefix($0 + ":") })
        else { return false }
        return activity.map { letter.isAbout($0) } ?? true
    }
}

extension DeadLetter {
    /// The activity or subject as far as the record can be read.
    var subject: String? {
        if let activityIdentifier { return activityIdentifier }
        let parsed = value.withUnsafeBytes { try? JSONParser.parse($0) }
        if let object = parsed?.asObject, let name = (object["activityId"] ?? object["subjectId"])?.asString {
            return name
        }
        return key.map { String(decoding: $0, as: UTF8.self) }
    }

    func isAbout(_ name: String) -> Bool {
        subject == name || key.map { $0.elementsEqual(name.utf8) } == true
    }
}
