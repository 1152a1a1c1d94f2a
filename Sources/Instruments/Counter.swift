/// A number that only grows, one series a label value.
public struct Counter<Labels: LabelSet>: Sendable {
    @usableFromInline let bank: CellBank

    /// Adds from any thread, by an atomic addition. A hot loop asks for `writer()` once and adds there.
    @inlinable public func add(_ amount: Int64 = 1, _ labels: Labels) {
        bank.shared[labels.ordinal].addShared(amount)
    }

    /// The caller's own cells. One thread at a time may add to them; two at once would lose counts.
    public func writer() -> CounterWriter<Labels> { CounterWriter(cells: bank.ownedRow()) }

    /// The sum over all writers.
    public func total(_ labels: Labels) -> Int64 { bank.totals()[labels.ordinal] }
}

extension Counter where Labels == NoLabel {
    @inlinable public func add(_ amount: Int64 = 1) { add(amount, NoLabel()) }
    public var total: Int64 { total(NoLabel()) }
}

/// One thread's share of a counter: an addition is a load, an add and a store.
public struct CounterWriter<Labels: LabelSet>: Sendable {
    @usableFromInline let cells: [Cell]

    @inlinable public func add(_ amount: Int64 = 1, _ labels: Labels) { cells[labels.ordinal].addAlone(amount) }
}

extension CounterWriter where Labels == NoLabel {
    @inlinable public func add(_ amount: Int64 = 1) { add(amount, NoLabel()) }
}
