/// A histogram's content as a value: mergeable, and readable as quantiles.
public struct Distribution: Sendable, Equatable {
    private(set) var counts: [Int64]
    /// The sum of all recorded values, exact.
    public private(set) var sum: Int64
    /// The largest recorded value, exact; 0 where nothing was recorded.
    public private(set) var maximum: Int64
    /// How many values were recorded.
    public private(set) var count: Int64

    public init() {
        self.init(counts: Array(repeating: 0, count: Buckets.count), sum: 0, maximum: 0)
    }

    init(counts: [Int64], sum: Int64, maximum: Int64) {
        self.counts = counts
        self.sum = sum
        self.maximum = maximum
        // Counted here and not by the writer, so that the count and the buckets of one reading always agree.
        count = counts.reduce(0, +)
    }

    public mutating func record(_ value: Int64) {
        counts[Buckets.index(of: value)] += 1
        sum += max(value, 0)
        maximum = max(maximum, value)
        count += 1
    }

    public mutating func merge(_ other: Distribution) {
        for index in counts.indices { counts[index] += other.counts[index] }
        sum += other.sum
        maximum = max(maximum, other.maximum)
        count += other.count
    }

    /// The value that a share of all values does not exceed, never below the true one and at most 1 in 32 above it;
    /// nil where nothing was recorded.
    ///
    /// - Parameter share: 0…1, for instance 0.99.
    public func quantile(_ share: Double) -> Int64? {
        guard count > 0 else { return nil }
        let rank = max(1, Int64((share * Double(count)).rounded(.up)))
        var seen: Int64 = 0
        for (index, bucketCount) in counts.enumerated() {
            seen += bucketCount
            if seen >= rank { return min(Buckets.upperBound(of: index), maximum) }
        }
        return maximum
    }

    /// How many values lie in buckets that end at or below `bound`.
    func count(upTo bound: Int64) -> Int64 {
        var seen: Int64 = 0
        for (index, bucketCount) in counts.enumerated() {
            guard Buckets.upperBound(of: index) <= bound else { break }
            seen += bucketCount
        }
        return seen
    }
}
