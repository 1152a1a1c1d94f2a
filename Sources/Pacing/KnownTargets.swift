/// Which targets any life of an activity has had, as hashes: a start that names one of them again is an echo, not a new life.
///
/// At the limit the oldest is forgotten: an echo of a start that lies more than `limit` targets back would then begin a life.
struct KnownTargets {
    static let limit = 64

    /// 0 for none. It lies in place, so that one or none costs no memory of its own.
    private var newest: UInt64 = 0
    private var older: [UInt64] = []

    var isEmpty: Bool { newest == 0 }

    func contains(_ hash: UInt64) -> Bool { hash == newest || older.contains(hash) }

    /// The oldest first.
    var hashes: [UInt64] { newest == 0 ? [] : older + [newest] }

    mutating func insert(_ hash: UInt64) {
        guard !contains(hash) else { return }
        if newest != 0 { older.append(newest) }
        if older.count == KnownTargets.limit { older.removeFirst() }
        newest = hash
    }
}
