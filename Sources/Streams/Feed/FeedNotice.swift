import Pacing

/// What a feed found out about one of its topics, which its member has to hear of.
public enum FeedNotice: Equatable, Sendable {
    /// Reading begins, or goes on, after this; the newest record is at that offset, −1 where there is none.
    case begins(source: Int, SettledPosition, newestOffset: Int64)
    /// All that was there has been read: what was newest before may have been deleted.
    case reachedEnd(source: Int)
    /// Records were trimmed, or removed by retention, before they were read: reading goes on behind them.
    case trimmed(source: Int, records: Int64, SettledPosition)
    /// Records went before they were read, and XDEL took some of them at least: nothing but the count is set right. Negative where too many
    /// had been counted.
    case recounted(source: Int, records: Int64, SettledPosition)
    /// The log ends before what was read of it: it lost its newest records, in a fail-over as a rule.
    case rewound(source: Int, fromOffset: Int64, SettledPosition)
    /// The log holds less than was read: it was removed and made anew.
    case replaced(source: Int, fromOffset: Int64, SettledPosition)
}
