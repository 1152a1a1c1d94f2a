/// The cadence bucket: a whole number of tokens between −burst and burst that grows by one each interval while it is not full.
///
/// Eight bytes: one lies in the record of every activity.
struct CadenceBucket: Equatable {
    private enum Rate: UInt8 { case unlimited, standard, frequent }

    private var rate: Rate
    private var storedLevel: Int8
    /// From when the interval runs that will give the next token; meaningless while full.
    private var intervalStart = Int48(0)

    struct Limits: Equatable {
        let burst: Int64
        let intervalMilliseconds: Int64

        private init(burst: Int64, intervalMilliseconds: Int64) {
            self.burst = burst
            self.intervalMilliseconds = intervalMilliseconds
        }

        static let standard = Limits(burst: 4, intervalMilliseconds: 60_000)
        static let frequent = Limits(burst: 8, intervalMilliseconds: 15_000)

        /// - Parameter frequentUpdates: what the device reports.
        static func of(_ profile: CadenceProfile, frequentUpdates: Bool) -> Limits? {
            switch profile {
            case .auto: frequentUpdates ? .frequent : .standard
            case .standard: .standard
            case .frequent: .frequent
            case .unlimited: nil
            }
        }
    }

    /// Full.
    init(_ limits: Limits?) {
        rate = CadenceBucket.rate(limits)
        storedLevel = Int8(limits?.burst ?? 0)
    }

    /// Nil where the profile is `unlimited`.
    private(set) var limits: Limits? {
        get {
            switch rate {
            case .unlimited: nil
            case .standard: .standard
            case .frequent: .frequent
            }
        }
        set { rate = CadenceBucket.rate(newValue) }
    }

    private(set) var level: Int64 {
        get { Int64(storedLevel) }
        set { storedLevel = Int8(newValue) }
    }

    private var intervalStartMilliseconds: Int64 {
        get { intervalStart.value }
        set { intervalStart = Int48(newValue) }
    }

    /// Whether urgent updates have used up what they may borrow.
    var isExhausted: Bool { limits.map { level <= -$0.burst } ?? false }

    mutating func refill(nowMilliseconds now: Int64) {
        guard let limits, level < limits.burst else { return }
        // A stored time ahead of now counts as now.
        intervalStartMilliseconds = min(intervalStartMilliseconds, now)
        let gained = (now - intervalStartMilliseconds) / limits.intervalMilliseconds
        level = min(limits.burst, level + gained)
        intervalStartMilliseconds += gained * limits.intervalMilliseconds
    }

    /// Takes one token, where there is one above `floor`.
    mutating func take(above floor: Int64, nowMilliseconds now: Int64) {
        refill(nowMilliseconds: now)
        guard let limits, level > floor else { return }
        if level == limits.burst { intervalStartMilliseconds = now }
        level -= 1
    }

    /// When the level reaches `wanted`, if nothing is taken until then.
    func reaches(_ wanted: Int64, nowMilliseconds now: Int64) -> Int64 {
        guard let limits, level < wanted else { return now }
        return max(now, intervalStartMilliseconds + (wanted - level) * limits.intervalMilliseconds)
    }

    /// Keeps the level, cut to the new bounds; its interval begins anew.
    mutating func switchTo(_ new: Limits?, nowMilliseconds now: Int64) {
        guard new != limits else { return }
        refill(nowMilliseconds: now)
        // Unlimited has no level: what comes after it begins full.
        level = limits == nil ? (new?.burst ?? 0) : level
        if let new { level = min(new.burst, max(-new.burst, level)) }
        limits = new
        intervalStartMilliseconds = now
    }

    func write(to writer: inout CheckpointWriter) {
        writer.append(byte: rate.rawValue)
        writer.append(byte: UInt8(bitPattern: storedLevel))
        writer.append(intervalStart)
    }

    /// As it was written, the interval not ahead of now.
    init(_ reader: inout CheckpointReader, nowMilliseconds now: Int64) throws(CheckpointFault) {
        guard let rate = Rate(rawValue: try reader.byte()) else { throw reader.fault("an unknown cadence profile") }
        self.rate = rate
        storedLevel = 0
        let level = Int8(bitPattern: try reader.byte())
        let bound = Int8(limits?.burst ?? 0)
        storedLevel = max(-bound, min(bound, level))
        intervalStart = Int48(min(now, try reader.int48().value))
    }

    private static func rate(_ limits: Limits?) -> Rate {
        switch limits {
        case nil: .unlimited
        case Limits.standard?: .standard
        default: .frequent
        }
    }
}
