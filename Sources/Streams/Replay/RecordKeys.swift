import Telemetry

/// The message key of each record: its wrapper's, else the subject's id where the activity follows one from its start, else its own.
///
/// What an activity follows is known from its `activity.started` on and never forgotten: its key never changes.
struct RecordKeys {
    private var subjects: [String: [UInt8]] = [:]

    /// Calls `body` with the key; it is empty only where a record without wrapper cannot be decoded.
    mutating func withKey<Result>(of record: RecordingRecord, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let key = record.key { return RecordingLine.resolved(key: key).withUnsafeBytes(body) }
        guard record.fault == nil else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        let event = record.decoded
        if event.isForSubject { return body(event.identifier) }
        if let subject = event.detail?.follows {
            let activity = String(decoding: event.identifier, as: UTF8.self)
            if subjects[activity] == nil { subjects[activity] = Array(subject.utf8) }
        }
        guard !subjects.isEmpty, let subject = subjects[String(decoding: event.identifier, as: UTF8.self)] else {
            return body(event.identifier)
        }
        return subject.withUnsafeBytes(body)
    }
}
