/// What Redis says of itself (INFO), as far as it decides whether what is kept there stays.
struct RedisInformation {
    private var values: [Substring: Substring] = [:]

    init(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) where line.first != "#" {
            guard let colon = line.firstIndex(of: ":") else { continue }
            values[line[..<colon]] = line[line.index(after: colon)...]
        }
    }

    func warnings(place: String) -> [String] {
        var warnings: [String] = []
        if let policy = values["maxmemory_policy"] {
            // Without a limit nothing is evicted, whatever the policy.
            if policy != "noeviction", values["maxmemory"] != "0" {
                warnings.append(
                    """
                    Redis at \(place) may evict keys when its memory is full (maxmemory-policy \(policy)): streams, leases and checkpoints \
                    would vanish, and pushes be lost or sent twice. Set maxmemory-policy to noeviction; saves then wait until there is room.
                    """)
            }
        } else {
            warnings.append(
                "Redis at \(place) does not tell its maxmemory-policy. See to it that it is noeviction: streams and checkpoints must not vanish."
            )
        }
        switch values["aof_enabled"] {
        case "1": break
        case "0":
            warnings.append(
                """
                Redis at \(place) writes no append-only file (appendonly no): when it ends, it forgets positions and checkpoints since its \
                last snapshot. Set appendonly to yes.
                """)
        default:
            warnings.append(
                "Redis at \(place) does not tell whether it writes an append-only file. See to it that appendonly is yes."
            )
        }
        return warnings
    }
}
