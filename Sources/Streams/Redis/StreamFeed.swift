import Flow
import Pacing
import RedisClient
import Telemetry

/// What of Redis is read, and how.
public struct StreamSettings: Sendable {
    public var topics: [String]
    /// The consumer group that shows others where reading is.
    public var group: String
    public var bodyField = "event"
    /// Whether a stream or group that is not there is made; else it is waited for.
    public var createsMissing = true
    /// Entries asked for at once.
    public var readCount = 500
    public var apps: [String]

    public init(topics: [String], group: String, apps: [String]) {
        self.topics = topics
        self.group = group
        self.apps = apps
    }

    public func stream(_ source: Int, _ partition: Int32) -> String { "\(topics[source]):{\(partition)}" }
}

/// What a feed found out about one of its streams, which its member has to hear of.
public enum StreamNotice: Equatable, Sendable {
    /// Reading begins, or goes on, after this; the newest entry is at that offset, −1 where there is none.
    case begins(source: Int, SettledPosition, newestOffset: Int64)
    /// All that was there has been read: what was newest before may have been deleted.
    case reachedEnd(source: Int)
    /// Entries were trimmed before they were read: reading goes on behind them. How many is unknown where Redis does not count.
    case trimmed(source: Int, entries: Int64?, SettledPosition)
    /// The stream ends before what was read of it: it lost its newest entries, in a fail-over as a rule. Or it holds less than was read: it
    /// was removed and made anew.
    case rewound(source: Int, fromOffset: Int64, SettledPosition)
}

/// Reads one partition: its stream of each topic, from a cursor on, by a connection of its own. Nothing is delivered to anybody, so nothing
/// can be stranded.
///
/// Belongs to the thread of its client's loop. At most `maxBatches` are read ahead.
public final class StreamFeed {
    static let maxBatches = 2
    /// How long a read waits at the server for something to come; between reads the stream is looked at.
    static let blockMilliseconds: Int64 = 1_000
    static let lookMilliseconds: Int64 = 1_000

    public let partition: Int32
    /// Of the ownership under which it reads.
    public let epoch: Epoch
    let settings: StreamSettings
    let reader: RedisReader
    var decoder: EventDecoder
    /// By source: the offset of the last entry that was read.
    var after: [Int64] = []
    var records: [Int64?] = []
    public internal(set) var lags: [StreamLag]
    /// Why nothing is read at the moment; nil where that is as it should be.
    public var fault: SourceFault? { lookFault ?? readFault }
    /// Each until the same succeeds: a stream that can be looked at may still not be read.
    private var lookFault: SourceFault?
    private var readFault: SourceFault?
    private var staged: [StreamBatch] = []
    private var spare: [StreamBatch] = []
    private var isAsking = false
    private var isOpen = false
    private var isClosed = false
    /// Sources of which not all has been read that was there at the beginning.
    private var awaitedEnds: Set<Int> = []
    /// Sources that have been looked at.
    private var begun: Set<Int> = []
    private var nextLookMilliseconds: Int64 = 0
    private var retryAtMilliseconds: Int64 = 0
    private var command = RedisCommand("XREAD")
    /// By source.
    private let names: [[UInt8]]
    private let bodyField: [UInt8]

    /// - Parameters:
    ///   - after: by source, where its owner says that reading goes on; nil for the beginning.
    public init(
        partition: Int32, epoch: Epoch, client: RedisClient, settings: StreamSettings, after: [SettledPosition?]
    ) {
        self.partition = partition
        self.epoch = epoch
        self.settings = settings
        decoder = EventDecoder(apps: settings.apps)
        names = settings.topics.indices.map { Array(settings.stream($0, partition).utf8) }
        bodyField = Array(settings.bodyField.utf8)
        reader = client.openReader(key: settings.stream(0, partition))
        lags = Array(repeating: StreamLag(), count: settings.topics.count)
        self.after = after.map { $0?.offset ?? -1 }
        records = after.map { $0?.records }
    }

    /// The oldest batch that was read and is not done with.
    public var first: StreamBatch? { staged.first }
    /// Batches that wait for their activities to be loaded.
    public var unprepared: StreamBatch? { staged.first { $0.ticket == nil } }

    /// The first batch has been applied.
    public func finishFirst() {
        let batch = staged.removeFirst()
        batch.clear()
        spare.append(batch)
    }

    /// Tickets of what was read and will not be applied.
    public func close() -> [UInt64] {
        isClosed = true
        reader.close()
        return staged.compactMap(\.ticket)
    }

    /// Reads on, if there is room and nothing is under way. To be called often.
    ///
    /// - Parameters:
    ///   - nowMilliseconds: on a clock that never goes back.
    ///   - wallMilliseconds: Unix time.
    public func read(nowMilliseconds now: Int64, wallMilliseconds: Int64) {
        guard !isAsking, !isClosed, now >= retryAtMilliseconds else { return }
        if !isOpen || now >= nextLookMilliseconds {
            nextLookMilliseconds = now + StreamFeed.lookMilliseconds
            look(now, wallMilliseconds)
        } else if staged.count < StreamFeed.maxBatches {
            ask(now)
        }
    }

    // MARK: Reading

    private func ask(_ now: Int64) {
        command.reset("XREAD")
        command.append("COUNT")
        command.append(Int64(settings.readCount))
        command.append("BLOCK")
        command.append(StreamFeed.blockMilliseconds)
        command.append("STREAMS")
        for name in names { command.append(name) }
        for offset in after { command.append(offset < 0 ? .zero : RedisStreamID(offset: offset)) }
        isAsking = true
        reader.send(command, blockMilliseconds: StreamFeed.blockMilliseconds) { [weak self] outcome in
            guard let self, !isClosed else { return }
            isAsking = false
            switch outcome {
            case .reply(let reply):
                readFault = nil
                take(reply, now)
            case .refused(let refusal): readFault = refused(refusal, "XREAD", now)
            // The next read waits for a connection; the client tells why there is none.
            case .lost, .unsent: break
            }
        }
    }

    private func take(_ reply: RedisReply, _ now: Int64) {
        let batch = spare.popLast() ?? StreamBatch()
        var named: Set<Int> = []
        for stream in reply {
            guard let name = stream[0]?.bytes, let entries = stream[1],
                let source = names.indices.first(where: { names[$0].elementsEqual(name) })
            else { continue }
            if !awaitedEnds.isEmpty { named.insert(source) }
            var newest = after[source]
            let before = batch.count
            for entry in entries {
                var parts = entry.makeIterator()
                guard let text = parts.next()?.bytes, let identifier = RedisStreamID(text) else { continue }
                guard let offset = identifier.offset else {
                    let name = settings.stream(source, partition)
                    readFault = failed(
                        "\(name) has the entry id \(identifier), which no clock gives",
                        "have producers write with XADD … *, remove that entry and those behind it: redis-cli XDEL '\(name)' \(identifier), "
                            + "and let ids go on behind the newest one that is left: redis-cli XSETID '\(name)' <its id>",
                        now)
                    break
                }
                newest = offset
                batch.add(source: source, offset: offset, value: parts.next().flatMap { body(of: $0) })
            }
            after[source] = newest
            records[source] = records[source].map { $0 + Int64(batch.count - before) }
        }
        // Only what has something new is named.
        let ended = awaitedEnds.isEmpty ? [] : awaitedEnds.subtracting(named)
        awaitedEnds.subtract(ended)
        if batch.count > 0 {
            batch.decode(with: &decoder, bodyField: settings.bodyField)
            staged.append(batch)
        } else {
            spare.append(batch)
        }
        stage(ended.sorted().map { .reachedEnd(source: $0) })
    }

    /// Nil also for an entry that was deleted while it was read.
    private func body(of fields: RedisReply) -> UnsafeRawBufferPointer? {
        var parts = fields.makeIterator()
        while let name = parts.next(), let value = parts.next() {
            guard let bytes = name.bytes else { continue }
            if bytes.count == bodyField.count, bodyField.elementsEqual(bytes) { return value.bytes }
        }
        return nil
    }

    // MARK: Looking

    private func look(_ now: Int64, _ wallMilliseconds: Int64) {
        isAsking = true
        var left = settings.topics.count
        var hasFailed = false
        var notices: [StreamNotice] = []
        for source in settings.topics.indices {
            StreamLook(self, source: source, wallMilliseconds: wallMilliseconds).begin { [weak self] seen in
                guard let self, !isClosed else { return }
                left -= 1
                switch seen {
                case .success(let seen): note(seen, source, &notices)
                case .failure(let failure):
                    hasFailed = true
                    note(failure, now)
                }
                guard left == 0 else { return }
                isAsking = false
                if !hasFailed { lookFault = nil }
                stage(notices)
                isOpen = begun.count == after.count
            }
        }
    }

    /// They concern what is read from now on, and so wait for what was read before.
    private func stage(_ notices: [StreamNotice]) {
        guard !notices.isEmpty else { return }
        let batch = spare.popLast() ?? StreamBatch()
        batch.notices = notices
        staged.append(batch)
    }

    private func note(_ failure: StreamLook.Failure, _ now: Int64) {
        switch failure {
        case .refused(let refusal, let command): lookFault = refused(refusal, command, now)
        case .missing(let what, let remedy): lookFault = failed(what, remedy, now)
        case .unknown: break
        }
    }

    private func note(_ seen: StreamLook.Seen, _ source: Int, _ notices: inout [StreamNotice]) {
        if begun.insert(source).inserted {
            // What was trimmed before anybody read it is no loss of ours.
            let begin = SettledPosition(
                offset: after[source], records: records[source] ?? seen.recordsBefore(after[source]))
            records[source] = begin.records
            notices.append(.begins(source: source, begin, newestOffset: seen.newestEntryOffset))
            if seen.newestEntryOffset > after[source] { awaitedEnds.insert(source) }
        }
        if seen.newestOffset < after[source] {
            let end = SettledPosition(offset: seen.newestOffset, records: seen.entriesAdded ?? 0)
            notices.append(.rewound(source: source, fromOffset: after[source], end))
            (after[source], records[source]) = (end.offset, end.records)
        } else if let added = seen.entriesAdded, let read = records[source], added < read {
            let anew = SettledPosition(offset: after[source], records: seen.recordsBefore(after[source]))
            notices.append(.rewound(source: source, fromOffset: after[source], anew))
            records[source] = anew.records
        } else if let first = seen.firstUnreadOffset(after: after[source], records: records[source]),
            after[source] >= 0
        {
            let behind = SettledPosition(offset: first - 1, records: seen.recordsTrimmed ?? records[source] ?? 0)
            let entries = seen.recordsTrimmed.flatMap { trimmed in records[source].map { max(0, trimmed - $0) } }
            if entries != 0 { notices.append(.trimmed(source: source, entries: entries, behind)) }
            (after[source], records[source]) = (behind.offset, max(behind.records, records[source] ?? 0))
        }
        lags[source] = seen.lag(after: after[source], records: records[source])
    }

    // MARK: What goes wrong

    private static let retryMilliseconds: Int64 = 1_000

    private func refused(_ refusal: RedisRefusal, _ asked: String, _ now: Int64) -> SourceFault {
        let streams = settings.topics.indices.map { settings.stream($0, partition) }.joined(separator: " and ")
        return switch refusal.code {
        case "WRONGTYPE":
            failed("\(streams) is no stream", "rename or remove the key, and have producers use XADD", now)
        case "NOPERM":
            failed(
                "this user may not \(asked) \(streams): \(refusal.message)",
                "ACL SETUSER <user> ~\(settings.group):* \(settings.topics.map { "~\($0):*" }.joined(separator: " ")) "
                    + "+@read +@write +@scripting +@connection -@dangerous +time +info", now)
        default:
            failed("Redis refused \(asked): \(refusal)", "see Redis' own log", now)
        }
    }

    /// What failed is tried again after a while.
    private func failed(_ problem: String, _ remedy: String, _ now: Int64) -> SourceFault {
        retryAtMilliseconds = now + StreamFeed.retryMilliseconds
        return SourceFault(
            source: "partition \(partition) of \(settings.topics.joined(separator: ", "))", problem: problem,
            remedy: remedy)
    }
}
