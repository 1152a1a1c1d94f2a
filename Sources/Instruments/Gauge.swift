/// A number that rises and falls, one series a label value. Writers set their own share; a reader sees their sum, or
/// their maximum where the gauge was declared so.
public struct Gauge<Labels: LabelSet>: Sendable {
    @usableFromInline let bank: CellBank

    /// Sets the part of the value that belongs to no writer; any thread, the last one wins.
    @inlinable public func set(_ value: Int64, _ labels: Labels) { bank.shared[labels.ordinal].set(value) }

    /// Adds from any thread, by an atomic addition.
    @inlinable public func add(_ amount: Int64, _ labels: Labels) { bank.shared[labels.ordinal].addShared(amount) }

    /// The caller's own cells, for one thread at a time.
    public func writer() -> GaugeWriter<Labels> { GaugeWriter(cells: bank.ownedRow()) }

    public func value(_ labels: Labels) -> Int64 { bank.totals()[labels.ordinal] }
}

extension Gauge where Labels == NoLabel {
    @inlinable public func set(_ value: Int64) { set(value, NoLabel()) }
    @inlinable public func add(_ amount: Int64) { add(amount, NoLabel()) }
    public var value: Int64 { value(NoLabel()) }
}

/// One thread's share of a gauge.
public struct GaugeWriter<Labels: LabelSet>: Sendable {
    @usableFromInline let cells: [Cell]

    @inlinable public func set(_ value: Int64, _ labels: Labels) { cells[labels.ordinal].set(value) }
    @inlinable public func add(_ amount: Int64, _ labels: Labels) { cells[labels.ordinal].addAlone(amount) }
}

extension GaugeWriter where Labels == NoLabel {
    @inlinable public func set(_ value: Int64) { set(value, NoLabel()) }
    @inlinable public func add(_ amount: Int64) { add(amount, NoLabel()) }
}
