import RedisClient
import Sockets

/// The dead letters of a topic, read from their streams and published again. Belongs to the loop's thread.
public final class RedisDeadLetters {
    /// One of them, and its id among the dead.
    public struct Stored: Sendable {
        public let identifier: RedisStreamID
        public let letter: DeadLetter
    }

    public struct Page: Sendable {
        public var letters: [Stored] = []
        /// Entries that are no dead letters.
        public var strangers = 0
        /// Where the next page begins behind; nil at the end.
        public var last: RedisStreamID?
    }

    /// What became of some that were to be published again.
    public struct Redriven: Equatable, Sendable {
        public var published = 0
        /// Somebody else has published them meanwhile, or they were trimmed.
        public var gone = 0
    }

    private let client: RedisClient
    private let topic: String
    private let topicPrefix: String
    private var command = RedisCommand("XRANGE")

    /// - Parameter topic: from which the records came; of updates, `RedisDeadLetterWriter.updates(of:)`.
    public init(client: RedisClient, topic: String, topicPrefix: String) {
        self.client = client
        self.topic = topic
        self.topicPrefix = topicPrefix
    }

    public func stream(_ partition: Int32) -> String { StreamName.of(topic: topicPrefix + topic, partition: partition) }

    /// The newest id in the stream of a partition; nil where there is none.
    public func newest(_ partition: Int32, done: @escaping (Result<RedisStreamID?, RedisFault>) -> Void) {
        let stream = stream(partition)
        command.reset("XREVRANGE")
        for word in [stream, "+", "-", "COUNT", "1"] { command.append(word) }
        client.send(command, key: stream) { outcome in
            done(Self.result(outcome, "XREVRANGE", stream) { $0[0]?[0]?.text.flatMap { RedisStreamID($0) } })
        }
    }

    /// Some letters of a partition, in the order of their ids.
    ///
    /// - Parameters:
    ///   - after: nil for the first page.
    ///   - through: what comes later is left out.
    public func page(
        _ partition: Int32, after: RedisStreamID?, through: RedisStreamID, count: Int,
        done: @escaping (Result<Page, RedisFault>) -> Void
    ) {
        let stream = stream(partition)
        command.reset("XRANGE")
        // "(id", which excludes it, is known from Redis 6.2 on.
        for word in [stream, after.map { "(\($0)" } ?? "-", "\(through)", "COUNT", "\(count)"] { command.append(word) }
        client.send(command, key: stream) { outcome in
            done(
                Self.result(outcome, "XRANGE", stream) { reply in
                    var page = Page()
                    for entry in reply {
                        guard let identifier = entry[0]?.text.flatMap({ RedisStreamID($0) }) else { continue }
                        page.last = identifier
                        if let letter = entry[1].flatMap({ DeadLetter(entry: $0) }) {
                            page.letters.append(Stored(identifier: identifier, letter: letter))
                        } else {
                            page.strangers += 1
                        }
                    }
                    if reply.count < count { page.last = nil }
                    return page
                })
        }
    }

    /// Publishes letters again, to the stream that they came from, and removes them here, in one step: each is published once, however often
    /// this is called.
    public func redrive(
        _ letters: [Stored], of partition: Int32, done: @escaping (Result<Redriven, RedisFault>) -> Void
    ) {
        let stream = stream(partition)
        let source = StreamName.of(topic: topic, partition: partition)
        command.reset("EVAL")
        for word in [Self.redriveScript, "2", stream, source] { command.append(word) }
        for letter in letters { command.append(letter.identifier) }
        client.send(command, key: stream) { outcome in
            done(
                Self.result(outcome, "the redrive", stream) { reply in
                    let published = Int(clamping: reply.integer ?? 0)
                    return Redriven(published: published, gone: letters.count - published)
                })
        }
    }

    /// KEYS: 1 stream of dead letters, 2 stream that they came from. ARGV: their ids. Returns how many were published.
    ///
    /// The record's own fields go as they came; how often it has failed and since when go with it, so that the next letter knows.
    private static let redriveScript = """
        local mark, kept = 'waypulse.dlq.', { ['waypulse.dlq.attempts'] = true, ['waypulse.dlq.first-failed-at'] = true }
        local published = 0
        for _, id in ipairs(ARGV) do
          local found = redis.call('XRANGE', KEYS[1], id, id)[1]
          if found then
            local fields = {}
            for i = 1, #found[2], 2 do
              local name = found[2][i]
              if string.sub(name, 1, #mark) ~= mark or kept[name] then
                fields[#fields + 1] = name
                fields[#fields + 1] = found[2][i + 1]
              end
            end
            local done = redis.pcall('XADD', KEYS[2], '*', unpack(fields))
            if type(done) == 'table' and done.err then return done end
            redis.call('XDEL', KEYS[1], id)
            published = published + 1
          end
        end
        return published
        """

    private static func result<Value>(
        _ outcome: RedisOutcome, _ asked: String, _ stream: String, _ read: (RedisReply) -> Value
    ) -> Result<Value, RedisFault> {
        switch outcome {
        case .reply(let reply): .success(read(reply))
        case .refused(let refusal): .failure(.refusal(refusal, to: asked, stream: stream))
        case .lost, .unsent:
            .failure(
                RedisFault(
                    .timeout, "Redis did not answer \(asked) on \(stream)",
                    remedy: "see whether it can be reached, and try again"))
        }
    }
}
