/// A command that has been asked for, until its outcome has been told.
struct Request {
    /// Decides the node of a cluster; nil for any.
    let slot: HashSlot?
    /// What it may take from when it is sent.
    let timeoutMilliseconds: Int64
    /// When it is given back if nobody could be asked until then.
    let waitsUntilMilliseconds: Int64
    /// Empty while a link has them in its output, unless they may be needed for another node.
    var bytes: [UInt8] = []
    /// How often it was sent elsewhere, or again.
    var detours = 0
    /// A slot is on its way to another node, and this command has to say that it knows (ASKING).
    var asks: RedisAddress?
    /// Not to be sent before.
    var notBeforeMilliseconds: Int64 = 0
    let completion: (RedisOutcome) -> Void
}
