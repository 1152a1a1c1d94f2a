import Flow

extension StoreFault {
    /// What a refusal of Redis means for the store.
    ///
    /// - Parameters:
    ///   - message: all that Redis said after the minus, its code included.
    ///   - asked: what it was asked.
    ///   - place: where it is.
    init(refusal message: String, to asked: String, place: String) {
        let kind = Kind.allCases.first { $0.signs.contains { message.contains($0) } }
        // Behind it stand a script's hash and line, which tell nobody what to do.
        let words = message.split(separator: " script: ", maxSplits: 1).first ?? ""
        let said = "Redis at \(place) refused \(asked): \(words.last == "." ? words.dropLast() : words)."
        guard let kind else {
            self.init(.misconfigured, "\(said) Waypulse needs Redis 6.2 or newer, or a server that answers as it does.")
            return
        }
        self.init(kind.failure, "\(said) \(kind.remedy)")
    }

    /// Looked for in the message, not in its first word alone: Redis before 7 gives what a script's command said inside an `ERR`.
    private enum Kind: CaseIterable {
        case full, reading, disk, replicas, rights, password, type, passing

        var signs: [String] {
            switch self {
            case .full: ["OOM "]
            case .reading: ["READONLY "]
            case .disk: ["MISCONF "]
            case .replicas: ["NOREPLICAS "]
            case .rights: ["NOPERM ", "can't run this command", "can't access at least one of the keys"]
            case .password: ["NOAUTH ", "WRONGPASS ", "invalid password", "invalid username-password"]
            case .type: ["WRONGTYPE "]
            // It starts, is cut from its master, runs somebody's script, or moves the keys to another node: over soon.
            case .passing:
                [
                    "LOADING ", "MASTERDOWN ", "BUSY ", "CLUSTERDOWN ", "TRYAGAIN ", "MOVED ", "ASK ", "UNBLOCKED ",
                    "non local key",
                    "max number of clients",
                ]
            }
        }

        var failure: StoreFailure {
            switch self {
            case .full, .reading, .disk, .replicas: .refusesWrites
            case .rights, .password, .type: .misconfigured
            case .passing: .unavailable
            }
        }

        var remedy: String {
            switch self {
            case .full:
                "Its memory is full: raise maxmemory or trim the streams. Nothing is lost, events are settled again from then on."
            case .reading:
                "It is a replica: point source.redis.url, or storage.redis.url, at the master, or at the Sentinels. After a fail-over this ends by itself."
            case .disk:
                "It cannot write to its disk: see its log. Nothing is lost, events are settled again from then on."
            case .replicas: "It has fewer replicas than min-replicas-to-write asks for: bring them back, or lower that."
            case .rights:
                "Give its user these rights: ACL SETUSER <user> ~<group>:* ~<topic>:* ~dlq.* +@read +@write +@scripting +@connection -@dangerous +time +info."
            case .password:
                "Correct the user in source.redis.url, or storage.redis.url, and the password in the passwordFile beside it."
            case .type:
                "Something else uses a key of that name: give the group another name (source.redis.group, source.kafka.group), or remove the key."
            case .passing: "It is asked again."
            }
        }
    }
}
