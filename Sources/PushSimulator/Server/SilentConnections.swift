import HTTP2

/// Connections that never finish their handshake hold memory and a descriptor for nothing: they are closed after a while.
struct SilentConnections {
    private var sinceMilliseconds: [UInt64: Int64] = [:]
    private var nextLookMilliseconds: Int64 = 0
    private static let lookMilliseconds: Int64 = 1_000

    /// - Returns: those that have been silent for so long, of all connections; looked for once a second.
    mutating func overdue(
        among connections: [ServerConnection], afterMilliseconds limit: Int64, nowMilliseconds now: Int64,
        isOpen: (ServerConnection) -> Bool
    ) -> [ServerConnection] {
        guard now >= nextLookMilliseconds else { return [] }
        nextLookMilliseconds = now + min(limit, SilentConnections.lookMilliseconds)
        var silent: [UInt64: Int64] = [:]
        var overdue: [ServerConnection] = []
        for connection in connections where !isOpen(connection) {
            let since = sinceMilliseconds[connection.identifier] ?? now
            silent[connection.identifier] = since
            if now - since >= limit { overdue.append(connection) }
        }
        sinceMilliseconds = silent
        return overdue
    }
}
