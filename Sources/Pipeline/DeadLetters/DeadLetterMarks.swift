import Instruments
import KafkaClient
import Pacing
import RedisClient
import Streams
import Telemetry

/// Makes dead letters of what a run cannot use, with the marks of that run on them.
struct DeadLetterMarks: Sendable {
    var group: String?
    var instance: String?
    var version: String?

    /// - Parameters:
    ///   - faults: at least one; an event of a subject may be refused by several of its followers.
    ///   - isEvent: whether the decoder took it.
    func letter(
        _ faults: [EventFault], _ record: RecordingRecord, of recording: String, isEvent: Bool, atMilliseconds: Int64
    ) -> DeadLetter {
        var letter = letter(faults, isEvent, of: recording, record.value, atMilliseconds)
        letter.record = record.number
        letter.partition = record.partition
        letter.offset = record.offset
        letter.key = record.key.map { RecordingLine.resolved(key: $0) }
        return letter
    }

    func letter(
        _ faults: [EventFault], _ record: FeedRecord, message: KafkaRecord?, names: SourceNames, partition: Int32,
        isEvent: Bool, atMilliseconds: Int64
    ) -> DeadLetter {
        var letter = letter(faults, isEvent, of: names.log(record.source, partition), record.value, atMilliseconds)
        letter.topic = names.topics[record.source]
        letter.partition = partition
        letter.offset = record.offset
        if case .streams = names { letter.entry = RedisStreamID(offset: record.offset) }
        if let message { letter.add(message) }
        return letter
    }

    /// An update that was not, or will not be, told.
    func letter(
        _ update: Update, partition: Int32, reason: String, detail: String, atMilliseconds: Int64
    ) -> DeadLetter {
        var state = ByteBuffer()
        state.append(update.contentState)
        var letter = DeadLetter(
            reason: reason, detail: detail, stage: .push, source: group ?? "", value: state.bytes)
        letter.activityIdentifier = update.activityIdentifier
        letter.sequence = update.sequence
        letter.partition = partition
        return marked(letter, atMilliseconds)
    }

    private func letter(
        _ faults: [EventFault], _ isEvent: Bool, of source: String, _ value: UnsafeRawBufferPointer,
        _ atMilliseconds: Int64
    ) -> DeadLetter {
        var details: [String] = []
        for fault in faults where !details.contains(fault.explanation) { details.append(fault.explanation) }
        return marked(
            DeadLetter(
                reason: faults[0].reason.name, detail: details.joined(separator: " "),
                stage: isEvent ? DeadLetter.Stage(faults[0].reason) : .decode, source: source, value: Array(value)),
            atMilliseconds)
    }

    private func marked(_ letter: DeadLetter, _ atMilliseconds: Int64) -> DeadLetter {
        var letter = letter
        (letter.group, letter.instance, letter.version) = (group, instance, version)
        letter.firstFailedAtMilliseconds = atMilliseconds
        return letter
    }
}

extension DeadLetter.Stage {
    /// Of what failed after it had been decoded.
    fileprivate init(_ reason: EventFault.Reason) {
        switch reason {
        case .contentStateMismatch, .contentStateTooLarge: self = .schema
        default: self = .pacing
        }
    }
}

extension DeadLetter {
    /// What came with its record, and what an earlier letter of it says.
    fileprivate mutating func add(_ message: KafkaRecord) {
        if !message.key.isEmpty { key = Array(message.key) }
        message.forEachHeader { name, value in
            switch String(cString: name) {
            case Self.prefix + "attempts": attempts = 1 + (Int(String(decoding: value, as: UTF8.self)) ?? 0)
            case Self.prefix + "first-failed-at":
                firstFailedAtMilliseconds = Int64(String(decoding: value, as: UTF8.self)) ?? firstFailedAtMilliseconds
            case let own where own.hasPrefix(Self.prefix): break
            case let name: headers.append(Header(name: name, value: Array(value)))
            }
        }
    }

    var place: LogField {
        if let record { return .field("record", record) }
        if let entry { return .field("entry", entry.description) }
        return .offset(offset)
    }
}
