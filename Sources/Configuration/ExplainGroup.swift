/// What `waypulse explain` and the API's `explain` can tell.
public struct ExplainGroup: Sendable {
    public let memoryMiB = Option.integer(
        "explain.memoryMiB", standard: 16, in: 0...65_536,
        "How much memory remembers the last decisions of activities, all together; 0 remembers none. 16 MiB hold some 200,000 entries: a push "
            + "makes one to three. Where it is full, what was written of least recently is forgotten first.")
}
