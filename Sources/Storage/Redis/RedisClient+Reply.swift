import RedisClient

extension RedisClient {
    /// The reply, where there is one.
    ///
    /// - Parameters:
    ///   - place: where Redis is, for people.
    ///   - asked: what it was asked, for people.
    package func reply(
        _ outcome: RedisOutcome, place: String, asked: @autoclosure () -> String
    ) -> Result<RedisReply, StoreFault> {
        switch outcome {
        case .reply(let reply):
            .success(reply)
        case .refused(let refusal):
            .failure(StoreFault(refusal: refusal.description, to: asked(), place: place))
        case .lost:
            .failure(
                StoreFault(
                    .unavailable, "Redis at \(place) did not answer \(asked()) in time, or the connection was lost."))
        case .unsent:
            .failure(unreachable(place))
        }
    }

    private func unreachable(_ place: String) -> StoreFault {
        guard case .failing(let fault) = status else {
            return StoreFault(.unavailable, "There is no connection to Redis at \(place) yet.")
        }
        switch fault.kind {
        case .credentials, .forbidden, .refused, .tls: return StoreFault(.misconfigured, fault.description)
        default: return StoreFault(.unavailable, fault.description)
        }
    }
}

extension StoreFault {
    init(strangeAnswerTo asked: String, place: String) {
        self.init(
            .misconfigured,
            "Redis at \(place) gave a strange answer to \(asked): is it a Redis of version 6.2 or newer?")
    }
}
