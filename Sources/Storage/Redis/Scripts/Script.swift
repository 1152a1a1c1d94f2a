/// What Redis runs for a request, whole or not at all.
///
/// Sent as text with EVAL each time, not by its SHA-1: an EVALSHA that Redis does not know is to be repeated, and what was sent behind it
/// has run by then, so a checkpoint would be overwritten by an older one. The text costs a batch of 64 checkpoints 4 % more bytes.
///
/// No script has a shebang line. Without one Redis (7.0: script.c, `scriptVerifyOOM`, `scriptVerifyWriteCommandAllow`) looks at full
/// memory, at being a replica, at a disk that fails and at too few replicas when a script makes its **first** write, and never after it.
/// So each script either makes a first write that full memory forbids (`save`), and is refused whole, or one that it does not forbid
/// (a lease, a heartbeat: a few bytes each), and is done whole. What else could stop a script halfway is a key of another type, and
/// each script reads those keys before it writes any.
struct Script: Sendable {
    let name: StaticString
    let text: [UInt8]

    init(_ name: StaticString, _ parts: String...) {
        self.name = name
        text = Array(parts.joined(separator: "\n").utf8)
    }

    /// The one clock of all members: that of Redis, in Unix milliseconds.
    static let time = """
        local function now()
          local t = redis.call('TIME')
          return t[1] * 1000 + math.floor(t[2] / 1000)
        end
        """

    /// KEYS: 1 lease, 2 epoch, 3 cursor. ARGV: 1 epoch, 2 member. 1 for the owner, 0 where another has it, −2 where Redis has forgotten that
    /// this epoch was given.
    ///
    /// Who was given the newest epoch is owner until another takes it: a lease that has lapsed harms nobody while nobody wanted it.
    static let ownership = """
        local function standing()
          local epoch = redis.call('GET', KEYS[2])
          if epoch ~= ARGV[1] then return (tonumber(epoch or 0) or math.huge) < tonumber(ARGV[1]) and -2 or 0 end
          local holder = redis.call('GET', KEYS[1]) or redis.call('HGET', KEYS[3], '@owner')
          return holder == ARGV[2] and 1 or 0
        end
        """

    /// KEYS: 3 cursor. The serial of the batch that was acknowledged last is that of the newest here, or a save that was answered is gone.
    static let memory = """
        local function serial() return tonumber(redis.call('HGET', KEYS[3], '@serial') or 0) or 0 end
        """
}
