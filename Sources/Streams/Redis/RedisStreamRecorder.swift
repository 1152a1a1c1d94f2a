import RedisClient
import Sockets
import Telemetry

/// Reads the streams of a topic, without a group and without leaving a trace, and writes a recording of them in the order of their ids.
///
/// It asks in rounds: what is no newer than the place to which each stream is known is written, the rest waits, and its stream is not asked
/// again before. Belongs to the loop's thread.
public final class RedisStreamRecorder {
    public struct Settings: Sendable {
        public var topic: String
        public var partitions: Int32
        public var bodyField = "event"
        /// Else only what comes after the recorder has begun.
        public var isFromBeginning = false
        /// nil takes all there is.
        public var mostRecords: Int?
        /// Entries to ask one stream for at a time, at most.
        public var readCount = 1000
        /// After this long without any answer it gives up.
        public var patienceMilliseconds: Int64 = 60_000

        public init(topic: String, partitions: Int32) {
            self.topic = topic
            self.partitions = partitions
        }
    }

    private struct Pending {
        let offset: Int64
        let partition: Int32
        let line: Range<Int>
    }

    /// Entries asked for in one round over all streams together, so that the memory it takes does not grow with their number.
    private static let entriesPerRound = 32_768
    /// Between rounds that find nothing; it doubles up to the second.
    private static let pauseMilliseconds: Int64 = 10
    private static let longestPauseMilliseconds: Int64 = 200

    private let client: RedisClient
    private let settings: Settings
    private let writer: RecordingWriter
    private let streams: [String]
    private let entriesPerStream: Int
    private var command = RedisCommand("XREAD")
    /// Where each stream is read on; nil until that is known.
    private var cursors: [RedisStreamID?]
    private var unanswered = 0
    private var pauseMilliseconds = pauseMilliseconds
    private var timer: LoopTimer!

    private var pending: [Pending] = []
    /// How many of them each stream has.
    private var pendingOfStream: [Int]
    private var lines = ByteBuffer(capacity: 1 << 20)
    /// The offset up to which all streams are known; those that were read to their end just now do not bound it.
    private var boundOffset = Int64.max
    private var found = 0
    private var isRoundWhole = true
    private var answerMilliseconds = EventLoop.currentMilliseconds()

    /// Entries that lack the body field: they are not in the recording.
    public private(set) var withoutBody = 0
    /// When the newest entry came, or all streams were known to be read to their end for the first time. Monotonic clock.
    public private(set) var newestMilliseconds = EventLoop.currentMilliseconds()
    /// Whether one round over all streams has been answered.
    public private(set) var hasBegun = false
    public private(set) var fault: RedisFault?
    public private(set) var writeFault: SourceFault?
    private var lastRefusal: RedisFault?

    public init(client: RedisClient, loop: EventLoop, settings: Settings, writer: RecordingWriter) {
        self.client = client
        self.settings = settings
        self.writer = writer
        streams = (0..<settings.partitions).map { StreamName.of(topic: settings.topic, partition: $0) }
        entriesPerStream = max(1, min(settings.readCount, Self.entriesPerRound / streams.count))
        cursors = [RedisStreamID?](repeating: settings.isFromBeginning ? .zero : nil, count: streams.count)
        pendingOfStream = [Int](repeating: 0, count: streams.count)
        timer = loop.timer { [unowned self] in beginRound() }
        timer.schedule(atMilliseconds: 0)
    }

    public var records: Int { writer.records }

    /// As many records as were asked for are written, or something cannot be gone on with.
    public var isDone: Bool { fault != nil || writeFault != nil || records >= settings.mostRecords ?? .max }

    /// Writes what waits for older entries to come first, and ends the recording.
    public func finish() throws(SourceFault) {
        timer.cancel()
        write(upTo: .max)
        if let writeFault { throw writeFault }
        try writer.finish()
    }

    // MARK: Rounds

    private func beginRound() {
        guard !isDone else { return }
        boundOffset = .max
        found = 0
        isRoundWhole = true
        for partition in streams.indices {
            guard pendingOfStream[partition] == 0 else {
                bound(by: partition)
                continue
            }
            unanswered += 1
            ask(partition)
        }
    }

    /// Nobody knows what this stream holds behind its cursor.
    private func bound(by partition: Int) {
        boundOffset = min(boundOffset, cursors[partition].flatMap(\.offset) ?? -1)
    }

    private func ask(_ partition: Int) {
        let stream = streams[partition]
        let cursor = cursors[partition]
        if let cursor {
            command.reset("XREAD")
            command.append("COUNT")
            command.append(Int64(entriesPerStream))
            command.append("STREAMS")
            command.append(stream)
            command.append(cursor)
        } else {
            command.reset("XREVRANGE")
            for word in [stream, "+", "-", "COUNT", "1"] { command.append(word) }
        }
        client.send(command, key: stream) { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .reply(let reply):
                answerMilliseconds = EventLoop.currentMilliseconds()
                take(reply, partition, isNewest: cursor == nil)
            case .refused(let refusal):
                let why = RedisFault.refusal(refusal, to: cursor == nil ? "XREVRANGE" : "XREAD", stream: stream)
                if refusal.mayPass { lastRefusal = why } else { fault = fault ?? why }
                remain(partition)
            // It is asked again in the next round: reading changes nothing.
            case .lost, .unsent: remain(partition)
            }
            unanswered -= 1
            if unanswered == 0 { endRound() }
        }
    }

    private func remain(_ partition: Int) {
        isRoundWhole = false
        bound(by: partition)
    }

    private func endRound() {
        let now = EventLoop.currentMilliseconds()
        if found > 0 || !hasBegun || !isRoundWhole { newestMilliseconds = now }
        hasBegun = hasBegun || cursors.allSatisfy { $0 != nil }
        write(upTo: boundOffset)
        if !isRoundWhole, now - answerMilliseconds > settings.patienceMilliseconds { giveUp() }
        guard !isDone else { return }
        pauseMilliseconds =
            found > 0 ? Self.pauseMilliseconds : min(2 * pauseMilliseconds, Self.longestPauseMilliseconds)
        // As long as there is more to read, at once.
        timer.schedule(atMilliseconds: boundOffset < .max && found > 0 ? now : now + pauseMilliseconds)
    }

    private func giveUp() {
        if case .failing(let why) = client.status {
            fault = why
        } else {
            fault =
                lastRefusal
                ?? RedisFault(
                    .timeout, "Redis has answered nothing for \(settings.patienceMilliseconds / 1000) s",
                    remedy: "look for slow commands (SLOWLOG), a saving fork or swapping there")
        }
    }

    // MARK: Entries

    private func take(_ reply: RedisReply, _ partition: Int, isNewest: Bool) {
        if isNewest {
            let newest = reply[0]?[0]?.bytes.flatMap { RedisStreamID($0) }
            cursors[partition] = newest ?? .zero
            return bound(by: partition)
        }
        guard let entries = reply[0]?[1] else { return }
        for entry in entries {
            guard let identifier = entry[0]?.bytes.flatMap({ RedisStreamID($0) }) else { continue }
            guard let offset = identifier.offset else {
                fault = RedisFault(
                    .refused, "\(streams[partition]) holds the id \(identifier), which no clock gives",
                    remedy: "have producers append with the id *")
                return
            }
            cursors[partition] = identifier
            found += 1
            take(entry[1], Int32(partition), identifier, offset)
        }
        if entries.count >= entriesPerStream {
            bound(by: partition)
        }
    }

    /// - Parameter fields: names and values in turn; nil where the entry is deleted.
    private func take(_ fields: RedisReply?, _ partition: Int32, _ identifier: RedisStreamID, _ offset: Int64) {
        var (key, body): (UnsafeRawBufferPointer?, UnsafeRawBufferPointer?)
        var name: UnsafeRawBufferPointer?
        if let fields {
            for field in fields {
                guard let named = name else {
                    name = field.bytes
                    continue
                }
                name = nil
                if named.elementsEqual("key".utf8) { key = field.bytes }
                if named.elementsEqual(settings.bodyField.utf8) { body = field.bytes }
            }
        }
        guard let body else {
            withoutBody += 1
            return
        }
        let start = lines.count
        lines.append(
            recorded: body, key: key, partition: partition, offset: offset,
            receivedAtMilliseconds: Int64(identifier.milliseconds))
        pending.append(Pending(offset: offset, partition: partition, line: start..<lines.count))
        pendingOfStream[Int(partition)] += 1
    }

    /// Writes those up to an offset, oldest first; the rest stays.
    private func write(upTo bound: Int64) {
        guard writeFault == nil, !pending.isEmpty else { return }
        pending.sort { ($0.offset, $0.partition) < ($1.offset, $1.partition) }
        let ready = pending.prefix { $0.offset <= bound }.prefix((settings.mostRecords ?? .max) - records)
        let rest = pending[ready.endIndex...]
        do throws(SourceFault) {
            for entry in ready {
                pendingOfStream[Int(entry.partition)] -= 1
                try writer.write { output in
                    lines.withUnsafeBytes { output.append(bytes: UnsafeRawBufferPointer(rebasing: $0[entry.line])) }
                }
            }
        } catch {
            writeFault = error
        }
        var kept = ByteBuffer(capacity: lines.count)
        pending = rest.map { entry in
            let start = kept.count
            lines.withUnsafeBytes { kept.append(bytes: UnsafeRawBufferPointer(rebasing: $0[entry.line])) }
            return Pending(offset: entry.offset, partition: entry.partition, line: start..<kept.count)
        }
        lines = kept
    }
}
