import RedisClient

/// What could not be used or will not be told, unchanged, with the reason: one shape for every place where dead letters are kept.
public struct DeadLetter: Equatable, Sendable {
    /// Where it failed.
    public enum Stage: String, Sendable, CaseIterable {
        /// It is no event.
        case decode
        /// It is one, and what it would make of a content-state must not be.
        case schema
        /// It is one, and no activity can take it.
        case pacing
        /// An update that no phone will be told: no record, and so nothing to publish again.
        case push
    }

    public struct Header: Equatable, Sendable {
        public let name: String
        public let value: [UInt8]

        public init(name: String, value: [UInt8]) {
            (self.name, self.value) = (name, value)
        }
    }

    /// Machine-readable, with the field it is about: `missing_field:latitude`.
    public var reason: String
    /// A sentence for a person.
    public var detail: String
    public var stage: Stage

    /// The recording, or the stream: `rides:{3}`.
    public var source: String
    /// Nil for a recording.
    public var topic: String?
    /// Its line in a recording, counted from 1.
    public var record: Int?
    public var partition: Int32 = 0
    /// −1 where the source does not tell.
    public var offset: Int64 = -1
    /// Its id in a stream of Redis.
    public var entry: RedisStreamID?

    public var group: String?
    /// The process that could not use it.
    public var instance: String?
    public var version: String?
    /// Unix time.
    public var firstFailedAtMilliseconds: Int64 = 0
    /// 1, and one more for each time that it was published again.
    public var attempts = 1

    public var key: [UInt8]?
    /// What else came with it: headers of a message, further fields of an entry.
    public var headers: [Header] = []
    /// The record as published, byte for byte. Of an update its content-state.
    public var value: [UInt8]

    /// Of an update.
    public var activityIdentifier: String?
    public var sequence: UInt64?

    public init(reason: String, detail: String, stage: Stage, source: String, value: [UInt8]) {
        (self.reason, self.detail, self.stage) = (reason, detail, stage)
        (self.source, self.value) = (source, value)
    }

    /// W3C Trace Context, as it came with the record.
    public var traceparent: String? {
        headers.first { $0.name == "traceparent" }.map { String(decoding: $0.value, as: UTF8.self) }
    }

    /// Bytes that it takes while it waits, more or less.
    public var byteCount: Int {
        value.count + detail.utf8.count + headers.reduce(256) { $0 + $1.name.utf8.count + $1.value.count }
    }

    /// The names that its own fields have in entries and headers begin so; those of the record do not.
    public static let prefix = "waypulse.dlq."
}
