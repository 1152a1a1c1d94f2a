import Instruments
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
        _ faults: [EventFault], _ record: StreamRecord, of stream: String, topic: String, partition: Int32,
        isEvent: Bool, atMilliseconds: Int64
    ) -> DeadLetter {
        var letter = letter(faults, isEvent, of: stream, record.value, atMilliseconds)
        letter.topic = topic
        letter.partition = partition
        letter.offset = record.offset
        letter.entry = RedisStreamID(offset: record.offset)
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
    var place: LogField {
        if let record { return .field("record", record) }
        if let entry { return .field("entry", entry.description) }
        return .offset(offset)
    }
}
