/// A command that has been asked for, until its outcome has been told.
struct Request {
    /// Counts up: what was asked for first is sent first.
    let number: UInt64
    /// Decides the node of a cluster; nil for any.
    let slot: HashSlot?
    /// What it may take from when it is sent.
    let timeoutMilliseconds: Int64
    /// When it is given back if nobody could be asked until then.
    let waitsUntilMilliseconds: Int64
    /// An answer above it is not taken: its connection ends.
    var mostReplyBytes = ReplyArena.mostBytes
    /// Empty while a link has them in its output, unless they may be needed for another node.
    var bytes: [UInt8] = []
    /// How often it was sent elsewhere, or again.
    var detours = 0
    /// The slot is on its way to this node, and the command has to say that it knows (ASKING).
    var asks: RedisAddress?
    /// Not to be sent before.
    var notBeforeMilliseconds: Int64 = 0
    let completion: (RedisOutcome) -> Void
}
