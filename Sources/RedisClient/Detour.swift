/// What a cluster, or a server that is no master any more, answers instead of doing what it was asked.
enum Detour: Equatable {
    /// The slot belongs to another node.
    case moved(RedisAddress)
    /// This command alone is to go to another node: its slot is on the way there.
    case ask(RedisAddress)
    /// Keys are on their way, or the cluster is without a node for the slot.
    case tryAgain

    /// - Parameter node: who says so, and is meant where no host is named.
    init?(_ refusal: RedisRefusal, from node: RedisAddress) {
        switch refusal.code {
        case "MOVED", "ASK":
            // `MOVED 3999 127.0.0.1:6381`
            let words = refusal.message.split(separator: " ")
            guard words.count == 2, let colon = words[1].lastIndex(of: ":"),
                let port = UInt16(words[1][words[1].index(after: colon)...])
            else { return nil }
            let host = words[1][..<colon]
            let address = RedisAddress(host.isEmpty || host == "?" ? node.host : String(host), port)
            self = refusal.code == "ASK" ? .ask(address) : .moved(address)
        case "TRYAGAIN", "CLUSTERDOWN": self = .tryAgain
        default: return nil
        }
    }
}
