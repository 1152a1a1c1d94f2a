import RedisClient

/// Fetches what came with the records of dead letters: key, further fields, how often they have failed. Good records are read without it.
///
/// Belongs to the loop's thread.
public final class RedisDeadLetterOrigins {
    private let client: RedisClient
    private let bodyField: String
    private var command = RedisCommand("XRANGE")

    private final class Round {
        var letters: [DeadLetter]
        var left: Int
        var isUnanswered = false

        init(_ letters: [DeadLetter]) {
            self.letters = letters
            left = letters.count
        }
    }

    public init(client: RedisClient, bodyField: String) {
        self.client = client
        self.bodyField = bodyField
    }

    /// Letters whose entry was trimmed, or cannot be read, come back as they are.
    public func complete(_ letters: [DeadLetter], done: @escaping (Result<[DeadLetter], SourceFault>) -> Void) {
        let round = Round(letters)
        for (place, letter) in letters.enumerated() {
            guard let entry = letter.entry else {
                round.left -= 1
                continue
            }
            command.reset("XRANGE")
            command.append(letter.source)
            command.append(entry)
            command.append(entry)
            client.send(command, key: letter.source) { [bodyField] outcome in
                switch outcome {
                case .reply(let reply):
                    if let fields = reply[0]?[1] { round.letters[place].add(fields, bodyField: bodyField) }
                case .refused: break
                case .lost, .unsent: round.isUnanswered = true
                }
                round.left -= 1
                if round.left == 0 { done(Self.result(round)) }
            }
        }
        if round.left == 0 { done(.success(letters)) }
    }

    private static func result(_ round: Round) -> Result<[DeadLetter], SourceFault> {
        guard round.isUnanswered else { return .success(round.letters) }
        return .failure(
            SourceFault(
                source: round.letters[0].source,
                problem: "Redis did not answer while the fields of dead letters were fetched",
                remedy: "they are fetched again; see whether Redis can be reached"))
    }
}

extension DeadLetter {
    /// - Parameter fields: of its entry, names and values in turn.
    fileprivate mutating func add(_ fields: RedisReply, bodyField: String) {
        var parts = fields.makeIterator()
        while let name = parts.next()?.text, let value = parts.next()?.bytes {
            switch name {
            case bodyField: break
            case "key": key = Array(value)
            case Self.prefix + "attempts":
                attempts = 1 + (Int(String(decoding: value, as: UTF8.self)) ?? 0)
            case Self.prefix + "first-failed-at":
                firstFailedAtMilliseconds = Int64(String(decoding: value, as: UTF8.self)) ?? firstFailedAtMilliseconds
            case let own where own.hasPrefix(Self.prefix): break
            default: headers.append(Header(name: name, value: Array(value)))
            }
        }
    }
}
