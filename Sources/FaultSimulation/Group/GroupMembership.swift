/// What a member knows of its place in the group.
struct GroupMembership {
    /// On its way to the member.
    struct Told {
        let message: GroupCoordinator.Message
        let membership: UInt64
        let generation: Int
        let atMilliseconds: Int64
    }

    /// Another one each time that it joins; nil before, and once it has lost the group.
    var membership: UInt64?
    var generation = 0
    var held: Set<Int> = []
    /// The group waits for these.
    var wanted: Set<Int> = []
    var wantedSinceMilliseconds = Int64.min
    /// By partition, then by source: the first that the store has not acknowledged as settled, and what was committed of that.
    var settled: [Int: [Int: Int64]] = [:]
    var committed: [Int: [Int: Int64]] = [:]
    var nextCommitMilliseconds = Int64.min
    var contactAtMilliseconds = Int64.min
    var cutOffUntilMilliseconds = Int64.min
    var inbox: [Told] = []
    var newestLetterMilliseconds = Int64.min
    var isLossOnItsWay = false
    /// It takes the group for lost after a session without a word, before anybody tells it.
    var noticesSilence = false

    mutating func forget() {
        membership = nil
        held = []
        wanted = []
        settled = [:]
        committed = [:]
    }
}
