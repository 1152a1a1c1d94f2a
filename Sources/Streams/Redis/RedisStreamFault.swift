import RedisClient

extension RedisFault {
    /// What cannot be done to a stream, and what to do about it.
    static func refusal(_ refusal: RedisRefusal, to command: String, stream: String) -> RedisFault {
        let problem = "Redis refuses \(command) on \(stream) (\(refusal))"
        return switch refusal.code {
        case "WRONGTYPE":
            RedisFault(.refused, problem, remedy: "choose another topic, or remove that key: it is no stream")
        case "NOPERM":
            RedisFault(.forbidden, problem, remedy: "allow the user \(command) on \(stream) with ACL SETUSER")
        case "NOAUTH", "WRONGPASS":
            RedisFault(.credentials, problem, remedy: "check user name and password file")
        case "OOM":
            RedisFault(.refused, problem, remedy: "raise its maxmemory, or trim streams: --max-length keeps them short")
        default: RedisFault(.refused, problem, remedy: "see what Redis says about it")
        }
    }
}

extension RedisRefusal {
    /// Another time it may be taken: memory may become free, a fail-over may end.
    var mayPass: Bool {
        ["OOM", "READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "BUSY", "MISCONF", "NOREPLICAS"]
            .contains(code)
    }
}
