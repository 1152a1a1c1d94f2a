import Telemetry

/// The streams of a world: what producers append, for anyone to read after an offset, any number of times.
struct SharedLog {
    struct Record {
        /// Rises within a stream, with gaps.
        let offset: Int64
        /// Counts the records of a partition, over all its sources, in the order in which they were appended.
        let order: Int
        /// Nil for bytes that no decoder takes.
        let event: SimulatedEvent?
    }

    private var streams: [[[Record]]]
    private var orders: [Int]

    init(partitions: Int, sources: Int) {
        streams = Array(repeating: Array(repeating: [], count: sources), count: partitions)
        orders = Array(repeating: 0, count: partitions)
    }

    var sources: Int { streams[0].count }

    mutating func append(_ event: SimulatedEvent?, partition: Int, source: Int, atMilliseconds now: Int64) -> Record {
        // As Redis makes ids: the time, and a number where two records share it.
        let newest = streams[partition][source].last?.offset ?? 0
        let record = Record(offset: max((now + 1) << 20, newest + 1), order: orders[partition], event: event)
        orders[partition] += 1
        streams[partition][source].append(record)
        return record
    }

    /// - Parameter offset: nil: from the beginning.
    func read(partition: Int, source: Int, after offset: Int64?, atMost count: Int) -> ArraySlice<Record> {
        let records = streams[partition][source]
        let first = place(in: records, after: offset)
        return records[first..<min(records.count, first + count)]
    }

    func hasMore(partition: Int, source: Int, after offset: Int64?) -> Bool {
        guard let newest = streams[partition][source].last?.offset else { return false }
        return newest > offset ?? .min
    }

    func end(partition: Int, source: Int) -> Int64? { streams[partition][source].last?.offset }

    /// How many records up to an offset, that one included.
    func count(partition: Int, source: Int, through offset: Int64) -> Int {
        place(in: streams[partition][source], after: offset)
    }

    /// The order of the first record after that; where there is none so far, of the next one of the partition.
    func order(partition: Int, source: Int, after offset: Int64?) -> Int {
        let records = streams[partition][source]
        let first = place(in: records, after: offset)
        return first < records.count ? records[first].order : orders[partition]
    }

    private func place(in records: [Record], after offset: Int64?) -> Int {
        guard let offset else { return 0 }
        var low = 0
        var high = records.count
        while low < high {
            let middle = (low + high) / 2
            if records[middle].offset > offset { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
