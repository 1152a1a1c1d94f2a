/// How the store feels.
struct StoreWeather {
    enum Refusal: CaseIterable {
        /// It only reads, as a replica does.
        case readOnly
        /// Its memory is full: what needs none is done.
        case full
    }

    var downUntilMilliseconds = Int64.min
    var slowUntilMilliseconds = Int64.min
    var refusesUntilMilliseconds = Int64.min
    var refusal = Refusal.readOnly

    func isUp(_ now: Int64) -> Bool { now >= downUntilMilliseconds }
    func isSlow(_ now: Int64) -> Bool { now < slowUntilMilliseconds }
}
