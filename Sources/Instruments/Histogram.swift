import Synchronization

/// How often values of each size were seen, one series a label value. Values are whole numbers in the unit that the
/// histogram was declared with.
public struct Histogram<Labels: LabelSet>: Sendable {
    let bank: HistogramBank

    /// The caller's own buckets, for one thread at a time: a record is three additions.
    public func writer() -> HistogramWriter<Labels> { HistogramWriter(cells: bank.ownedRow()) }

    /// What all writers have recorded.
    public func distribution(_ labels: Labels) -> Distribution { bank.distributions()[labels.ordinal] }
}

extension Histogram where Labels == NoLabel {
    public var distribution: Distribution { distribution(NoLabel()) }
}

/// One thread's share of a histogram.
public struct HistogramWriter<Labels: LabelSet>: Sendable {
    @usableFromInline let cells: [HistogramCells]

    @inlinable public func record(_ value: Int64, _ labels: Labels) { cells[labels.ordinal].record(value) }
}

extension HistogramWriter where Labels == NoLabel {
    @inlinable public func record(_ value: Int64) { record(value, NoLabel()) }
}

/// The buckets of one series and one writer.
@usableFromInline
final class HistogramCells: Sendable {
    @usableFromInline let counts: InlineArray<1152, Atomic<Int64>>
    @usableFromInline let sum = Atomic<Int64>(0)
    @usableFromInline let maximum = Atomic<Int64>(0)

    init() {
        counts = InlineArray { _ in Atomic(0) }
    }

    @inlinable func record(_ value: Int64) {
        let bucket = Buckets.index(of: value)
        counts[bucket].store(counts[bucket].load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        sum.store(sum.load(ordering: .relaxed) &+ max(value, 0), ordering: .relaxed)
        // Stored even where it stays: with a branch here the compiler counts a reference each time, 24 ns in place of 6.
        maximum.store(max(value, maximum.load(ordering: .relaxed)), ordering: .relaxed)
    }

    var distribution: Distribution {
        Distribution(
            counts: (0..<Buckets.count).map { counts[$0].load(ordering: .relaxed) },
            sum: sum.load(ordering: .relaxed), maximum: maximum.load(ordering: .relaxed))
    }
}

final class HistogramBank: Sendable {
    private let seriesCount: Int
    private let owned = Mutex<[[HistogramCells]]>([])

    init(seriesCount: Int) { self.seriesCount = seriesCount }

    func ownedRow() -> [HistogramCells] {
        let row = (0..<seriesCount).map { _ in HistogramCells() }
        owned.withLock { $0.append(row) }
        return row
    }

    func distributions() -> [Distribution] {
        var totals = [Distribution](repeating: Distribution(), count: seriesCount)
        for row in owned.withLock({ $0 }) {
            for (place, cells) in row.enumerated() { totals[place].merge(cells.distribution) }
        }
        return totals
    }
}
