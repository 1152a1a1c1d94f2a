import Flow
import RedisClient

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
        /// Of the highest id that XDEL has removed; trimming does not show here.
        var newestDeletedOffset: Int64 = -1
        var nextUnreadMilliseconds: Int64?
        var wallMilliseconds: Int64 = 0
        /// The look has made the stream itself.
        var isNew = false

        init() {}

        /// From what XINFO STREAM answers.
        init(_ reply: RedisReply) {
            length = StreamLook.field("length", of: reply)?.integer ?? 0
            newestOffset = StreamLook.offset(StreamLook.field("last-generated-id", of: reply)) ?? -1
            entriesAdded = StreamLook.field("entries-added", of: reply)?.integer
            newestDeletedOffset = StreamLook.offset(StreamLook.field("max-deleted-entry-id", of: reply)) ?? -1
            newestEntryOffset = StreamLook.offset(StreamLook.field("last-entry", of: reply)?[0]) ?? -1
            firstOffset = StreamLook.offset(StreamLook.field("first-entry", of: reply)?[0])
        }

        func recordsBefore(_ offset: Int64) -> Int64 {
            guard let entriesAdded else { return 0 }
            if offset >= newestOffset { return entriesAdded }
            return entriesAdded - length
        }

        func lag(after offset: Int64, records: Int64?) -> SourceLag {
            var lag = SourceLag()
            guard newestOffset > offset else { return lag }
            lag.records = entriesAdded.flatMap { added in records.map { max(0, added - $0) } }
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
        after = feed.places[source].offset
        self.wallMilliseconds = wallMilliseconds
    }

    func begin(_ completion: @escaping (Result<Seen, Failure>) -> Void) {
        reader.send(RedisCommand("XINFO", "GROUPS", stream), blockMilliseconds: 0) { outcome in
            switch outcome {
            case .reply(let groups):
                if groups.contains(where: { StreamLook.field("name", of: $0)?.text == group }) {
                    describe(completion)
                } else {
                    make(completion, missing: "\(stream) has no consumer group \(group)", isNew: false)
                }
            case .refused(let refusal) where refusal.message.contains("no such key"):
                make(completion, missing: "the stream \(stream) is not there", isNew: true)
            case .refused(let refusal): completion(.failure(.refused(refusal, command: "XINFO GROUPS")))
            case .lost, .unsent: completion(.failure(.unknown))
            }
        }
    }

    /// Made again from the stored cursor, neither from the beginning nor from the end.
    private func make(_ completion: @escaping (Result<Seen, Failure>) -> Void, missing: String, isNew: Bool) {
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
            case .reply: describe(completion, isNew: isNew)
            case .refused(let refusal) where refusal.code == "BUSYGROUP": describe(completion)
            case .refused(let refusal): completion(.failure(.refused(refusal, command: "XGROUP CREATE")))
            case .lost, .unsent: completion(.failure(.unknown))
            }
        }
    }

    private func describe(_ completion: @escaping (Result<Seen, Failure>) -> Void, isNew: Bool = false) {
        reader.send(StreamLook.command(stream), blockMilliseconds: 0) { outcome in
            switch outcome {
            case .reply(let reply):
                var seen = Seen(reply)
                seen.wallMilliseconds = wallMilliseconds
                seen.isNew = isNew
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

    static func command(_ stream: String) -> RedisCommand { RedisCommand("XINFO", "STREAM", stream) }

    /// Stands for an id that no clock gives, above all others: the stream does not end before it, and who reads it will say so.
    static let offsetBeyondAll = Int64.max - 1

    private static func offset(_ reply: RedisReply?) -> Int64? {
        reply?.bytes.flatMap { RedisStreamID($0) }.map { $0.offset ?? offsetBeyondAll }
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
