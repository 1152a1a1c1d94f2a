import Flow
import RedisClient

/// How far reading is behind a stream's newest entry.
public struct StreamLag: Equatable, Sendable {
    /// Nil where Redis does not count (before 7.0).
    public var entries: Int64? = 0
    /// Since the oldest entry that was not read was written; 0 where all were.
    public var milliseconds: Int64 = 0

    public init() {}
}

/// Looks at one stream between two reads, on the connection that reads: so what it sees and what was read are of one time.
struct StreamLook {
    enum Failure: Error {
        case refused(RedisRefusal, command: String)
        case missing(problem: String, remedy: String)
        /// No answer: another look will tell.
        case unknown
    }

    struct Seen {
        var newestOffset: Int64 = -1
        var length: Int64 = 0
        /// Nil where Redis does not count.
        var entriesAdded: Int64?
        var firstOffset: Int64?
        var newestEntryOffset: Int64 = -1
        var nextUnreadMilliseconds: Int64?
        var wallMilliseconds: Int64 = 0

        /// Entries that are there no more, as if all of them were the oldest.
        var recordsTrimmed: Int64? { entriesAdded.map { $0 - length } }

        func recordsBefore(_ offset: Int64) -> Int64 {
            guard let entriesAdded else { return 0 }
            if offset >= newestOffset { return entriesAdded }
            return entriesAdded - length
        }

        /// The first entry, if some between `offset` and it were trimmed. Redis does not tell the id of what it trimmed, but counts: more are
        /// gone than were read.
        ///
        /// - Parameter records: as many as had been added up to `offset`.
        func firstUnreadOffset(after offset: Int64, records: Int64?) -> Int64? {
            guard let recordsTrimmed, let records, recordsTrimmed > records else { return nil }
            let first = firstOffset ?? newestOffset + 1
            return first > offset + 1 ? first : nil
        }

        func lag(after offset: Int64, records: Int64?) -> StreamLag {
            var lag = StreamLag()
            guard newestOffset > offset else { return lag }
            lag.entries = entriesAdded.flatMap { added in records.map { max(0, added - $0) } }
            if let next = nextUnreadMilliseconds { lag.milliseconds = max(0, wallMilliseconds - next) }
            return lag
        }
    }

    private let reader: RedisReader
    private let stream: String
    private let group: String
    private let createsMissing: Bool
    private let after: Int64
    private let wallMilliseconds: Int64

    init(_ feed: StreamFeed, source: Int, wallMilliseconds: Int64) {
        reader = feed.reader
        stream = feed.settings.stream(source, feed.partition)
        group = feed.settings.group
        createsMissing = feed.settings.createsMissing
        after = feed.after[source]
        self.wallMilliseconds = wallMilliseconds
    }

    func begin(_ completion: @escaping (Result<Seen, Failure>) -> Void) {
        reader.send(RedisCommand("XINFO", "GROUPS", stream), blockMilliseconds: 0) { outcome in
            switch outcome {
            case .reply(let groups):
                if groups.contains(where: { StreamLook.field("name", of: $0)?.text == group }) {
                    describe(completion)
                } else {
                    make(completion, missing: "\(stream) has no consumer group \(group)")
                }
            case .refused(let refusal) where refusal.message.contains("no such key"):
                make(completion, missing: "the stream \(stream) is not there")
            case .refused(let refusal): completion(.failure(.refused(refusal, command: "XINFO GROUPS")))
            case .lost, .unsent: completion(.failure(.unknown))
            }
        }
    }

    /// Made again from the stored cursor, neither from the beginning nor from the end.
    private func make(_ completion: @escaping (Result<Seen, Failure>) -> Void, missing: String) {
        guard createsMissing else {
            completion(
                .failure(
                    .missing(
                        problem: missing,
                        remedy:
                            "redis-cli XGROUP CREATE '\(stream)' \(group) 0 MKSTREAM, or set source.redis.missing to create"
                    )))
            return
        }
        var command = RedisCommand("XGROUP", "CREATE", stream, group)
        command.append(after < 0 ? .zero : RedisStreamID(offset: after))
        command.append("MKSTREAM")
        reader.send(command, blockMilliseconds: 0) { outcome in
            switch outcome {
            case .reply: describe(completion)
            case .refused(let refusal) where refusal.code == "BUSYGROUP": describe(completion)
            case .refused(let refusal): completion(.failure(.refused(refusal, command: "XGROUP CREATE")))
            case .lost, .unsent: completion(.failure(.unknown))
            }
        }
    }

    private func describe(_ completion: @escaping (Result<Seen, Failure>) -> Void) {
        var seen = Seen()
        seen.wallMilliseconds = wallMilliseconds
        reader.send(RedisCommand("XINFO", "STREAM", stream), blockMilliseconds: 0) { outcome in
            switch outcome {
            case .reply(let reply):
                seen.length = StreamLook.field("length", of: reply)?.integer ?? 0
                seen.newestOffset = StreamLook.offset(StreamLook.field("last-generated-id", of: reply)) ?? -1
                seen.entriesAdded = StreamLook.field("entries-added", of: reply)?.integer
                seen.newestEntryOffset = StreamLook.offset(StreamLook.field("last-entry", of: reply)?[0]) ?? -1
                seen.firstOffset = StreamLook.offset(StreamLook.field("first-entry", of: reply)?[0])
                next(seen, completion)
            case .refused(let refusal): completion(.failure(.refused(refusal, command: "XINFO STREAM")))
            case .lost, .unsent: completion(.failure(.unknown))
            }
        }
    }

    private func next(_ seen: Seen, _ completion: @escaping (Result<Seen, Failure>) -> Void) {
        guard seen.newestOffset > after else { return completion(.success(seen)) }
        var command = RedisCommand("XRANGE", stream)
        // An exclusive range begins with a parenthesis that nothing closes.
        command.append(after < 0 ? "-" : "(" + RedisStreamID(offset: after).description)
        command.append("+")
        command.append("COUNT")
        command.append("1")
        reader.send(command, blockMilliseconds: 0) { outcome in
            var seen = seen
            switch outcome {
            case .reply(let reply):
                if let text = reply[0]?[0]?.bytes, let identifier = RedisStreamID(text) {
                    seen.nextUnreadMilliseconds = Int64(clamping: identifier.milliseconds)
                }
                completion(.success(seen))
            case .refused(let refusal): completion(.failure(.refused(refusal, command: "XRANGE")))
            case .lost, .unsent: completion(.failure(.unknown))
            }
        }
    }

    private static func offset(_ reply: RedisReply?) -> Int64? {
        reply?.bytes.flatMap { RedisStreamID($0) }?.offset
    }

    /// Replies of XINFO are names and values in turn.
    private static func field(_ name: StaticString, of reply: RedisReply) -> RedisReply? {
        var parts = reply.makeIterator()
        while let key = parts.next(), let value = parts.next() {
            if key.equals(name) { return value }
        }
        return nil
    }
}
