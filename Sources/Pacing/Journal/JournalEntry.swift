/// One entry as it lies in memory: a cache line, flat. `kind` says what its numbers mean.
struct JournalEntry {
    enum Kind: UInt8 {
        /// `detail`: a `Beginning`.
        case began
        /// `a`, `b`: the farthest distance and its threshold.
        case insideDeadband
        /// `detail`: a `Decision`; `a`, `b` or `c`, `d`: the worst value and the limit.
        case dropped
        /// As `dropped` with `implausible`.
        case heldAside
        /// Nothing that the phone should hear.
        case applied
        /// `a`, `b`: distance and threshold; `c`, `d`, `g`: when interval, bucket and the rest open; `e`: gates; `f`: level and class.
        case waits
        /// `detail`: a `Decision`; `a`, `b`: distance and threshold.
        case decided
        /// As `waits`; `c`: since when it was ready; `e`: sequence; `f`: level, kind, priority; `g`: attempt.
        case sent
        /// `detail`: a `JournalAnswer.Fate`; `c`: milliseconds it took; `d`: of the hold; `e`: sequence; `f`: status and reason; `g`: attempt.
        case answered
        /// `detail`: a `TargetChange`.
        case target
        /// `detail`: an `Ending`.
        case ended
    }

    var next: UInt32 = .max
    var kind: Kind
    var detail: UInt8 = 0
    var reasons: Reasons = []
    var count: UInt32 = 1
    var first: Int48
    var last: Int48
    var a: Float = .nan
    var b: Float = .nan
    var c: Int64 = 0
    var d: Int64 = 0
    var g: Int64 = 0
    var e: UInt32 = 0
    var f: UInt32 = 0

    init(_ kind: Kind, detail: UInt8 = 0, atMilliseconds now: Int64) {
        self.kind = kind
        self.detail = detail
        first = Int48(now)
        last = first
    }

    /// Whether both tell of the same, so that one will do.
    func isLike(_ other: JournalEntry) -> Bool {
        guard kind == other.kind, detail == other.detail else { return false }
        return switch kind {
        case .insideDeadband, .dropped, .heldAside, .applied: true
        case .waits: e == other.e && f & 0xff00 == other.f & 0xff00
        case .began, .decided, .sent, .answered, .target, .ended: false
        }
    }

    /// Takes in a later one that tells of the same. Of numbers the worst counts, of openings the newest.
    mutating func fold(_ other: JournalEntry) {
        count &+= other.count
        last = Int48(max(last.value, other.last.value))
        switch kind {
        case .waits:
            reasons.formUnion(other.reasons)
            (a, b, c, d, g, f) = (other.a, other.b, other.c, other.d, other.g, other.f)
        default:
            if other.a > a || a.isNaN { (a, b) = (other.a, other.b) }
            if other.c > c { (c, d) = (other.c, other.d) }
        }
    }
}
