import Flow

extension SplitMix {
    /// From 0 up to and without `limit`.
    mutating func below(_ limit: Int) -> Int {
        Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(limit)).high)
    }

    mutating func between(_ low: Int64, _ high: Int64) -> Int64 {
        low + Int64(below(Int(high - low + 1)))
    }

    mutating func chance(percent: Int) -> Bool { below(100) < percent }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// A generator of its own: what is drawn from it moves nothing that is drawn from this one.
    mutating func fork() -> SplitMix { SplitMix(seed: next()) }
}
