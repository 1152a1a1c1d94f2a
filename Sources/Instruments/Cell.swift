import Synchronization

/// One number, written by one thread and read by any.
///
/// A single writer needs no locked instruction: load, add and store, each relaxed, cost about a nanosecond, where an
/// atomic add costs five and, when two lanes share a cache line, fifty. The padding keeps two cells off one line.
@usableFromInline
final class Cell: Sendable {
    @usableFromInline let value = Atomic<Int64>(0)
    private let padding: (Int64, Int64, Int64, Int64, Int64) = (0, 0, 0, 0, 0)

    init() {}

    @inlinable func addAlone(_ amount: Int64) {
        value.store(value.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
    }

    @inlinable func addShared(_ amount: Int64) {
        value.wrappingAdd(amount, ordering: .relaxed)
    }

    @inlinable func set(_ newValue: Int64) { value.store(newValue, ordering: .relaxed) }
    @inlinable var current: Int64 { value.load(ordering: .relaxed) }
}

/// The cells of one metric: a shared row that any thread may add to, and one row for each writer that asked for its own.
@usableFromInline
final class CellBank: Sendable {
    @usableFromInline let shared: [Cell]
    private let owned = Mutex<[[Cell]]>([])
    let combine: Combine

    enum Combine: Sendable { case sum, maximum }

    init(count: Int, combine: Combine = .sum) {
        shared = Self.row(count)
        self.combine = combine
    }

    /// A row that lives as long as the metric: what a thread has counted stays counted after it ends.
    @usableFromInline func ownedRow() -> [Cell] {
        let row = Self.row(shared.count)
        owned.withLock { $0.append(row) }
        return row
    }

    /// One number a series, over all rows.
    func totals() -> [Int64] {
        var totals = shared.map(\.current)
        for row in owned.withLock({ $0 }) {
            for (place, cell) in row.enumerated() {
                switch combine {
                case .sum: totals[place] &+= cell.current
                case .maximum: totals[place] = max(totals[place], cell.current)
                }
            }
        }
        return totals
    }

    private static func row(_ count: Int) -> [Cell] { (0..<count).map { _ in Cell() } }
}
