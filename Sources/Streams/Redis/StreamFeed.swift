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

/// Reads one partition: its stream of each topic, from a cursor on, by a connection of its own. Nothing is delivered to anybody, so nothing
/// can be stranded.
///
/// Belongs to the thread of its client's loop.
public final class StreamFeed: PartitionFeed {
    /// How long a read waits at the server for something to come; between reads the stream is looked at.
    static let blockMilliseconds: Int64 = 1_000
    static let lookMilliseconds: Int64 = 1_000
    /// So long what a look has seen stands for what is.
    static let freshMilliseconds: Int64 = 3_000

    public let partition: Int32
    /// Of the ownership under which it reads.
    public let epoch: Epoch
    let settings: StreamSettings
    let reader: RedisReader
    // Touched with every record, and by this alone.
    @exclusivity(unchecked) private var intake: RecordIntake
    /// By source, how far it is read.
    private(set) var places: [StreamPlace]
    /// By source, as the last look saw it.
    private(set) var lags: [SourceLag]
    /// By source, when that was; at first when it began to be read.
    private var lookedMilliseconds: [Int64] = []
    public var fault: SourceFault? { lookFaults.lazy.compactMap(\.self).first ?? readFault ?? connectionFault }
    /// By source, until it can be looked at: it is not read.
    private var lookFaults: [SourceFault?]
    /// Until a read succeeds: a stream that can be looked at may still not be read.
    private var readFault: SourceFault?
    private var readSize: ReadSize
    private var batches = BatchQueue()
    /// Commands that are under way.
    private var unanswered = 0
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
    ///   - mark: is told which record is in work.
    public init(
        partition: Int32, epoch: Epoch, client: RedisClient, settings: StreamSettings, after: [SettledPosition?],
        mark: WorkMark? = nil
    ) {
        self.partition = partition
        self.epoch = epoch
        self.settings = settings
        intake = RecordIntake(apps: settings.apps, partition: partition, mark: mark)
        names = settings.topics.indices.map { Array(settings.stream($0, partition).utf8) }
        bodyField = Array(settings.bodyField.utf8)
        reader = client.openReader(key: settings.stream(0, partition))
        lags = Array(repeating: .unknown, count: settings.topics.count)
        lookFaults = Array(repeating: nil, count: settings.topics.count)
        places = after.map { StreamPlace($0) }
        readSize = ReadSize(most: settings.readCount, streams: settings.topics.count)
    }

    public var first: EventBatch? { batches.first }
    public var unprepared: EventBatch? { batches.unprepared }
    public func finishFirst() { batches.finishFirst() }

    public var poison: [Set<Int64>] {
        get { intake.poison }
        set { intake.poison = newValue }
    }

    public func close() -> [UInt64] {
        isClosed = true
        reader.close()
        return batches.tickets
    }

    public func read(nowMilliseconds now: Int64, wallMilliseconds: Int64) {
        if lookedMilliseconds.isEmpty { lookedMilliseconds = Array(repeating: now, count: places.count) }
        guard unanswered == 0, !isClosed, now >= retryAtMilliseconds else { return }
        if now >= nextLookMilliseconds {
            nextLookMilliseconds = now + StreamFeed.lookMilliseconds
            look(now, wallMilliseconds)
        } else if batches.hasRoom, places.indices.contains(where: isReadable) {
            ask(now)
        }
    }

    private func isReadable(_ source: Int) -> Bool { begun.contains(source) && lookFaults[source] == nil }

    /// Of a stream that could not be looked at for a while nobody knows more than how long that has been: its age grows by it.
    public func lags(nowMilliseconds now: Int64, wallMilliseconds: Int64) -> [SourceLag] {
        zip(lags, lookedMilliseconds).map { known, looked in
            var lag = known
            let since = now - looked
            if since > StreamFeed.freshMilliseconds { lag.milliseconds += since }
            return lag
        }
    }

    // MARK: Reading

    private func ask(_ now: Int64) {
        command.reset("XREAD")
        command.append("COUNT")
        command.append(Int64(readSize.count))
        command.append("BLOCK")
        command.append(StreamFeed.blockMilliseconds)
        command.append("STREAMS")
        for source in names.indices where isReadable(source) { command.append(names[source]) }
        for source in names.indices where isReadable(source) {
            let offset = places[source].offset
            command.append(offset < 0 ? .zero : RedisStreamID(offset: offset))
        }
        unanswered = 1
        reader.send(
            command, blockMilliseconds: StreamFeed.blockMilliseconds, mostReplyBytes: readSize.mostReplyBytes
        ) { [weak self] outcome in
            guard let self, !isClosed else { return }
            unanswered -= 1
            switch outcome {
            case .reply(let reply):
                readFault = nil
                take(reply, now)
            case .refused(let refusal) where refusal.code == "WRONGTYPE":
                // Of which stream, the look says.
                nextLookMilliseconds = now
            case .refused(let refusal): readFault = failed(refused(refusal, "XREAD", names.indices), now)
            case .lost: noteLostRead()
            // The next read waits for a connection; the connection tells why there is none.
            case .unsent: break
            }
        }
        for source in places.indices where places[source].isComparisonDue && isReadable(source) { compare(source) }
    }

    /// Right behind the read that was asked for: what it jumped over has left a shortfall.
    private func compare(_ source: Int) {
        unanswered += 1
        let command = StreamLook.command(settings.stream(source, partition))
        reader.send(command, blockMilliseconds: StreamFeed.blockMilliseconds) { [weak self] outcome in
            guard let self, !isClosed else { return }
            unanswered -= 1
            // A look tells of all else.
            guard case .reply(let reply) = outcome else { return }
            if let notice = places[source].compare(with: StreamLook.Seen(reply), source: source) {
                batches.stage([notice])
            }
        }
    }

    private func take(_ reply: RedisReply, _ now: Int64) {
        let batch = batches.take()
        batch.reserve(byteCount: reply.byteCount)
        var count = 0
        var named: Set<Int> = []
        var isWhole = false
        for stream in reply {
            guard let name = stream[0]?.bytes, let entries = stream[1],
                let source = names.indices.first(where: { names[$0].elementsEqual(name) })
            else { continue }
            if !awaitedEnds.isEmpty { named.insert(source) }
            if entries.count >= readSize.count { isWhole = true }
            for entry in entries {
                var parts = entry.makeIterator()
                guard let text = parts.next()?.bytes, let identifier = RedisStreamID(text) else { continue }
                guard let offset = identifier.offset else {
                    let name = settings.stream(source, partition)
                    readFault = failed(
                        fault(
                            "\(name) has the entry id \(identifier), which no clock gives",
                            "have producers write with XADD … *, remove that entry and those behind it: redis-cli XDEL '\(name)' \(identifier), "
                                + "and let ids go on behind the newest one that is left: redis-cli XSETID '\(name)' <its id>"
                        ), now)
                    break
                }
                places[source].read(offset)
                count += 1
                intake.take(
                    parts.next().flatMap { body(of: $0) }.map(batch.keep), source: source, offset: offset, into: batch,
                    missing: noBody)
            }
        }
        intake.finish()
        readSize.answered(entries: count, bytes: reply.byteCount, isWhole: isWhole)
        // Only what has something new is named.
        let ended = awaitedEnds.isEmpty ? [] : awaitedEnds.filter { isReadable($0) && !named.contains($0) }
        awaitedEnds.subtract(ended)
        if count > 0 { batches.stage(batch) } else { batches.putBack(batch) }
        batches.stage(ended.sorted().map { .reachedEnd(source: $0) })
    }

    private var noBody: EventFault {
        EventFault(
            .missingField(settings.bodyField),
            "the entry has no field \(settings.bodyField): publish the event as JSON in that field, or set source.redis.bodyField"
        )
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
        unanswered = settings.topics.count
        var notices: [FeedNotice] = []
        for source in settings.topics.indices {
            StreamLook(self, source: source, wallMilliseconds: wallMilliseconds).begin { [weak self] seen in
                guard let self, !isClosed else { return }
                switch seen {
                case .success(let seen):
                    lookFaults[source] = nil
                    lookedMilliseconds[source] = now
                    note(seen, source, &notices)
                case .failure(.refused(let refusal, let command)):
                    lookFaults[source] = refused(refusal, command, source..<source + 1)
                case .failure(.missing(let what, let remedy)): lookFaults[source] = fault(what, remedy)
                case .failure(.unknown): break
                }
                unanswered -= 1
                if unanswered == 0 { batches.stage(notices) }
            }
        }
    }

    private func note(_ seen: StreamLook.Seen, _ source: Int, _ notices: inout [FeedNotice]) {
        if begun.insert(source).inserted {
            let begin = places[source].begin(seen)
            notices.append(.begins(source: source, begin, newestOffset: seen.newestEntryOffset))
            if seen.newestEntryOffset > begin.offset { awaitedEnds.insert(source) }
        }
        if let notice = places[source].compare(with: seen, source: source) { notices.append(notice) }
        lags[source] = seen.lag(after: places[source].offset, records: places[source].records)
    }

    // MARK: What goes wrong

    private static let retryMilliseconds: Int64 = 1_000

    /// One is no news: a connection breaks now and then. After another, what is asked for may be more than can come.
    private func noteLostRead() {
        let asked = readSize.count
        readSize.lost()
        guard readSize.lostInARow > 1 else { return }
        var why = RedisFault(.lost, "no answer came", remedy: "see Redis' own log")
        if case .failing(let fault) = reader.status { why = fault }
        readFault = fault(
            "\(readSize.lostInARow) reads in a row were lost, the last of \(asked) entries: \(why.problem)",
            "fewer are asked for at a time; if one is still too many, raise source.redis.commandTimeout or Redis' "
                + "client-output-buffer-limit for normal clients, or have producers write smaller events")
    }

    private var connectionFault: SourceFault? {
        guard !isClosed, case .failing(let fault) = reader.status else { return nil }
        // Not by its partition: all that are read from one server have the same, and it is told once.
        return SourceFault(
            source: "streams of \(settings.topics.joined(separator: ", "))", problem: fault.problem,
            remedy: fault.remedy)
    }

    private func refused(_ refusal: RedisRefusal, _ asked: String, _ sources: Range<Int>) -> SourceFault {
        let streams = sources.map { settings.stream($0, partition) }.joined(separator: " and ")
        return switch refusal.code {
        case "WRONGTYPE":
            fault("\(streams) is no stream", "rename or remove the key, and have producers use XADD")
        case "NOPERM":
            fault(
                "this user may not \(asked) \(streams): \(refusal.message)",
                "ACL SETUSER <user> ~\(settings.group):* \(settings.topics.map { "~\($0):*" }.joined(separator: " ")) "
                    + "+@read +@write +@scripting +@connection -@dangerous +time +info")
        default:
            fault("Redis refused \(asked): \(refusal)", "see Redis' own log")
        }
    }

    private func fault(_ problem: String, _ remedy: String) -> SourceFault {
        SourceFault(
            source: "partition \(partition) of \(settings.topics.joined(separator: ", "))", problem: problem,
            remedy: remedy)
    }

    /// What failed is tried again after a while.
    private func failed(_ fault: SourceFault, _ now: Int64) -> SourceFault {
        retryAtMilliseconds = now + StreamFeed.retryMilliseconds
        return fault
    }
}
