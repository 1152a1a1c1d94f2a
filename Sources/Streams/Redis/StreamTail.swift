import Pacing
import RedisClient

/// How much of a stream lies behind a position, seen by somebody who does not read it.
public struct StreamTail: Sendable {
    /// Nil where Redis does not count (before 7.0).
    public var records: Int64?
    /// When the first of them was written, Unix milliseconds; nil where there is none.
    public var firstMilliseconds: Int64?

    /// - Parameter position: how far it is settled; nil for its beginning.
    public static func look(
        _ client: RedisClient, stream: String, after position: SettledPosition?,
        _ completion: @escaping (Result<StreamTail, RedisRefusal>) -> Void
    ) {
        client.send(StreamLook.command(stream), key: stream) { outcome in
            switch outcome {
            case .reply(let reply):
                let seen = StreamLook.Seen(reply)
                var tail = StreamTail()
                tail.records = seen.entriesAdded.map { max(0, $0 - (position?.records ?? 0)) }
                if position == nil { tail.records = seen.length }
                next(client, stream, position, tail, completion)
            case .refused(let refusal) where refusal.message.contains("no such key"):
                var tail = StreamTail()
                tail.records = 0
                completion(.success(tail))
            case .refused(let refusal): completion(.failure(refusal))
            case .lost, .unsent: completion(.success(StreamTail()))
            }
        }
    }

    private static func next(
        _ client: RedisClient, _ stream: String, _ position: SettledPosition?, _ tail: StreamTail,
        _ completion: @escaping (Result<StreamTail, RedisRefusal>) -> Void
    ) {
        var command = RedisCommand("XRANGE", stream)
        let offset = position?.offset ?? -1
        command.append(offset < 0 ? "-" : "(" + RedisStreamID(offset: offset).description)
        command.append("+")
        command.append("COUNT")
        command.append("1")
        client.send(command, key: stream) { outcome in
            var tail = tail
            if case .reply(let reply) = outcome, let text = reply[0]?[0]?.bytes, let identifier = RedisStreamID(text) {
                tail.firstMilliseconds = Int64(clamping: identifier.milliseconds)
            }
            if tail.firstMilliseconds == nil { tail.records = tail.records.map { _ in 0 } }
            completion(.success(tail))
        }
    }
}
