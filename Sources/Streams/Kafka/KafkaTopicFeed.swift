import KafkaClient
import Pacing

/// How far one topic's partition is read.
struct KafkaTopicFeed {
    let source: Int
    let partition: KafkaTopicPartition
    /// Nil while it is not open.
    private(set) var reader: KafkaPartitionReader?
    /// Where the owner says that reading goes on.
    private var after: SettledPosition?
    /// The offset to be read next; nil before anything is known of it.
    private(set) var next: Int64?
    /// Where to begin if there is no such offset.
    private var start: KafkaPosition?
    private var records: Int64
    private(set) var fault: KafkaFault?
    /// By the record's clock; nil before the first.
    private(set) var lastTimestampMilliseconds: Int64?
    private var hasBegun = false
    /// Not all has been read that was there at the beginning.
    private var awaitsEnd = false
    /// Since when something lies there that was not read; nil where nothing does.
    private var behindSinceMilliseconds: Int64?

    init(_ source: Int, _ partition: KafkaTopicPartition, after: SettledPosition?) {
        (self.source, self.partition, self.after) = (source, partition, after)
        next = after.map { $0.offset + 1 }
        records = after?.records ?? 0
    }

    /// Nil before anything is known of it.
    var position: KafkaPosition? { next.map { .offset($0) } ?? start }

    /// - Parameter committed: by the group; nil where it has nothing.
    mutating func begin(at committed: Int64?, else start: KafkaPosition) {
        next = committed
        self.start = start
    }

    mutating func opened(_ reader: KafkaPartitionReader) { self.reader = reader }

    mutating func stopped(_ fault: KafkaFault) {
        reader = nil
        self.fault = fault
    }

    // MARK: What its member hears

    /// - Parameter first: the first record that was read.
    /// - Returns: nothing but the first time.
    mutating func begun(before first: Int64, newest: Int64) -> [FeedNotice] {
        guard !hasBegun else { return [] }
        (hasBegun, awaitsEnd) = (true, true)
        return [.begins(source: source, after ?? SettledPosition(offset: first - 1, records: 0), newestOffset: newest)]
    }

    /// All there was is read: behind the last record markers of transactions may stand, which nobody reads.
    mutating func ended(at end: Int64) -> [FeedNotice] {
        next = max(next ?? 0, end)
        fault = nil
        defer { awaitsEnd = false }
        guard !hasBegun else { return awaitsEnd ? [.reachedEnd(source: source)] : [] }
        hasBegun = true
        return [.begins(source: source, after ?? SettledPosition(offset: end - 1, records: 0), newestOffset: -1)]
    }

    /// The offset to be read next lies outside of what there is.
    ///
    /// - Parameter offset: where to go on if records that were read are gone; nil for the first that is there.
    mutating func moved(into range: KafkaWatermarks, at offset: Int64?) -> [FeedNotice] {
        guard let wanted = next else { return [] }
        if wanted < range.low {
            next = range.low
            records += range.low - wanted
            let position = SettledPosition(offset: range.low - 1, records: records)
            if !hasBegun { after = position }
            return [.trimmed(source: source, records: range.low - wanted, position)]
        }
        guard wanted > range.high else { return [] }
        let place = min(max(offset ?? range.low, range.low), range.high)
        next = place
        let position = SettledPosition(offset: place - 1, records: records)
        if !hasBegun { after = position }
        return [.rewound(source: source, fromOffset: wanted - 1, position)]
    }

    // MARK: How far

    mutating func noteRead(_ messages: KafkaBatch, _ now: Int64) {
        let last = messages[messages.count - 1]
        next = last.offset + 1
        records += Int64(messages.count)
        fault = nil
        lastTimestampMilliseconds = last.timestampMilliseconds ?? lastTimestampMilliseconds
    }

    /// - Parameter unapplied: the oldest that was read and not applied.
    mutating func lag(unapplied: KafkaRecord?, nowMilliseconds now: Int64, wallMilliseconds: Int64) -> SourceLag {
        var lag = SourceLag.unknown
        if let position = unapplied?.offset ?? next, let high = reader?.watermarks?.high {
            lag.records = max(0, high - position)
            lag.endOffset = high
        }
        if let unapplied {
            behindSinceMilliseconds = nil
            // The clocks of producers and brokers differ from this one's.
            lag.milliseconds = max(0, wallMilliseconds - (unapplied.timestampMilliseconds ?? wallMilliseconds))
        } else if lag.records == 0 {
            behindSinceMilliseconds = nil
        } else {
            // Nobody knows when it was written that was not read; it was not there before all was.
            behindSinceMilliseconds = behindSinceMilliseconds ?? now
            lag.milliseconds = now - (behindSinceMilliseconds ?? now)
        }
        return lag
    }
}
