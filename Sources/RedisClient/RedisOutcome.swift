/// How a command ended. Told exactly once for each.
public enum RedisOutcome {
    /// Lent: valid until the callback returns.
    case reply(RedisReply)
    /// Redis has answered with an error, and done nothing (a script may have done a part).
    case refused(RedisRefusal)
    /// It was sent, and no answer came: nobody knows whether it was done.
    case lost
    /// Not a byte of it was sent.
    case unsent
}

/// An error that Redis answers with: `-WRONGTYPE Operation against a key …`.
public struct RedisRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The first word: `ERR`, `OOM`, `READONLY`, `NOSCRIPT`, `WRONGTYPE`, `NOPERM`, `NOGROUP`, …
    public let code: String
    /// The rest.
    public let message: String

    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    init(_ reply: RedisReply) {
        let text = reply.text ?? ""
        let words = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        code = String(words.first ?? "")
        message = words.count > 1 ? String(words[1]) : ""
    }

    public var description: String { message.isEmpty ? code : "\(code) \(message)" }
}
