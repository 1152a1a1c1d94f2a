/// One label of a metric: a closed set, so that the number of series is known before the program runs.
///
/// An enum without payloads conforms by naming itself; its `allCases` must be the compiler's own.
///
///     enum Decision: String, MetricLabel { static let labelName = "decision"; case sent, deadband, outOfOrder = "out_of_order" }
public protocol MetricLabel: LabelSet, CaseIterable {
    /// The key in `key="value"`, for instance `decision`.
    static var labelName: String { get }
    /// The value in `key="value"`, for instance `out_of_order`.
    var labelValue: String { get }
}

/// What tells the series of one metric apart: nothing, one label, or a pair of label sets.
public protocol LabelSet: Sendable {
    static var labelNames: [String] { get }
    /// The label values of each series, in the order of `ordinal`.
    static var series: [[String]] { get }
    static var seriesCount: Int { get }
    /// The place of this series in `series`.
    var ordinal: Int { get }
}

extension MetricLabel where Self: RawRepresentable, RawValue == String {
    @inlinable public var labelValue: String { rawValue }
}

extension MetricLabel {
    public static var labelNames: [String] { [labelName] }
    public static var series: [[String]] {
        for (place, label) in allCases.enumerated() {
            precondition(label.ordinal == place, "\(Self.self).allCases is not in the order of declaration")
        }
        return allCases.map { [$0.labelValue] }
    }

    @inlinable public static var seriesCount: Int { allCases.count }

    /// An enum of up to 256 cases without payloads is one byte that counts them; a search through `allCases` would
    /// cost more than the addition it leads to. `series`, asked once for each metric, proves the assumption.
    @inlinable public var ordinal: Int {
        switch MemoryLayout<Self>.size {
        case 0: 0
        case 1: withUnsafeBytes(of: self) { Int($0[0]) }
        default: preconditionFailure("\(Self.self) is not an enum of at most 256 cases without payloads")
        }
    }
}

/// The label set of a metric that has one series.
public struct NoLabel: LabelSet {
    public static var labelNames: [String] { [] }
    public static var series: [[String]] { [[]] }
    @inlinable public static var seriesCount: Int { 1 }
    @inlinable public var ordinal: Int { 0 }
    @inlinable public init() {}
}

/// Two label sets crossed; nests for three. The series are all combinations, so keep both small.
public struct LabelPair<First: LabelSet, Second: LabelSet>: LabelSet {
    @usableFromInline let first: First
    @usableFromInline let second: Second

    @inlinable public init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    public static var labelNames: [String] { First.labelNames + Second.labelNames }
    public static var series: [[String]] {
        let seconds = Second.series
        return First.series.flatMap { first in seconds.map { first + $0 } }
    }
    @inlinable public static var seriesCount: Int { First.seriesCount * Second.seriesCount }
    @inlinable public var ordinal: Int { first.ordinal * Second.seriesCount + second.ordinal }
}
