import RedisClient
import Sockets

/// Appends records to the streams of a topic, in order within each, as many at a time as may be unanswered.
///
/// At least once: where an answer was lost, that record and all behind it in its stream are appended again, so that the last word on
/// anything is the last entry. Belongs to the loop's thread.
public final class RedisStreamWriter {
    public struct Settings: Sendable {
        public var topic: String
        public var partitions: Int32
        /// The field of an entry that holds the event.
        public var bodyField = "event"
        /// How many entries a stream keeps, more or less; nil keeps all.
        public var maxLength: Int64?
        /// Commands that may be unanswered before `hasRoom` ends.
        public var mostUnanswered = 2048
        /// After this long without any answer it gives up.
        public var patienceMilliseconds: Int64 = 60_000

        public init(topic: String, partitions: Int32) {
            self.topic = topic
            self.partitions = partitions
        }
    }

    private struct Entry {
        let partition: Int32
        /// The key, and behind it the value.
        let bytes: [UInt8]
        let keyBytes: Int
        var state: State
    }

    private enum State { case sent, appended, lost, unsent, refused }

    /// After a refusal that may pass.
    private static let pauseMilliseconds: Int64 = 250

    private let client: RedisClient
    private let settings: Settings
    private let streams: [(name: String, slot: HashSlot)]
    private var command = RedisCommand("XADD")
    /// Those whose turn has not ended, in order. The first is number `first`.
    private var entries: [Entry?] = []
    private var head = 0
    private var first = 0
    private var unanswered = 0
    /// Something was not appended: nothing new is taken until all are answered and the rest has been appended again.
    private var isRepeating = false
    private var pauseEndMilliseconds: Int64 = 0
    private var progressMilliseconds = EventLoop.currentMilliseconds()

    /// Records that are in their stream.
    public private(set) var appended = 0
    /// Commands sent again after an answer was lost: so many entries may be there twice.
    public private(set) var repeated = 0
    /// Answers that said no and were tried again, by their code.
    public private(set) var refusals: [String: Int] = [:]
    /// Why it has given up.
    public private(set) var fault: RedisFault?
    private var lastRefusal: RedisFault?

    public init(client: RedisClient, settings: Settings) {
        self.client = client
        self.settings = settings
        streams = (0..<settings.partitions).map {
            let name = StreamName.of(topic: settings.topic, partition: $0)
            return (name, HashSlot(of: name))
        }
    }

    /// Whether another record is taken now.
    public var hasRoom: Bool { fault == nil && !isRepeating && entries.count - head < settings.mostUnanswered }
    /// Records that were taken and are not in their stream yet.
    public var waiting: Int { entries.count - head }

    /// Takes a record. Only while it `hasRoom`.
    public func append(_ record: ReplayedRecord) {
        precondition(hasRoom, "\(settings.topic): \(waiting) records wait already")
        if waiting == 0 { progressMilliseconds = EventLoop.currentMilliseconds() }
        let bytes = [UInt8](unsafeUninitializedCapacity: record.key.count + record.value.count) { space, count in
            let space = UnsafeMutableRawBufferPointer(space)
            space.copyBytes(from: record.key)
            UnsafeMutableRawBufferPointer(rebasing: space[record.key.count...]).copyBytes(from: record.value)
            count = record.key.count + record.value.count
        }
        entries.append(Entry(partition: record.partition, bytes: bytes, keyBytes: record.key.count, state: .sent))
        send(first + waiting - 1)
    }

    /// What time brings: entries that are to be appended again, the end of patience. To be called after each turn of the loop.
    public func advance() {
        guard fault == nil, waiting > 0 else { return }
        let now = EventLoop.currentMilliseconds()
        if now - progressMilliseconds > settings.patienceMilliseconds { return giveUp() }
        guard isRepeating, unanswered == 0, now >= pauseEndMilliseconds, client.status == .connected else { return }
        isRepeating = false
        repeatWhatIsMissing()
    }

    // MARK: Sending

    private func send(_ number: Int) {
        guard let entry = entries[head + number - first] else { return }
        let stream = streams[Int(entry.partition)]
        command.reset("XADD")
        command.append(stream.name)
        if let maxLength = settings.maxLength {
            command.append("MAXLEN")
            command.append("~")
            command.append(maxLength)
        }
        command.append("*")
        entry.bytes.withUnsafeBytes { bytes in
            if entry.keyBytes > 0 {
                command.append("key")
                command.append(UnsafeRawBufferPointer(rebasing: bytes[..<entry.keyBytes]))
            }
            command.append(settings.bodyField)
            command.append(UnsafeRawBufferPointer(rebasing: bytes[entry.keyBytes...]))
        }
        unanswered += 1
        client.send(command, slot: stream.slot) { [weak self] in self?.answered(number, $0) }
    }

    /// In each stream, the first that is missing and all behind it.
    private func repeatWhatIsMissing() {
        var isMissing = [Bool](repeating: false, count: streams.count)
        for number in first..<(first + waiting) {
            guard var entry = entries[head + number - first] else { continue }
            let partition = Int(entry.partition)
            if entry.state != .appended { isMissing[partition] = true }
            guard isMissing[partition] else { continue }
            switch entry.state {
            case .lost: repeated += 1
            case .appended:
                repeated += 1
                appended -= 1
            case .sent, .unsent, .refused: break
            }
            entry.state = .sent
            entries[head + number - first] = entry
            send(number)
        }
        popFinished()
    }

    // MARK: Answers

    private func answered(_ number: Int, _ outcome: RedisOutcome) {
        unanswered -= 1
        let place = head + number - first
        switch outcome {
        case .reply:
            appended += 1
            entries[place]?.state = .appended
            progressMilliseconds = EventLoop.currentMilliseconds()
            if !isRepeating { popFinished() }
        case .lost: miss(place, .lost)
        case .unsent: miss(place, .unsent)
        case .refused(let refusal):
            let stream = entries[place].map { streams[Int($0.partition)].name } ?? settings.topic
            let why = RedisFault.refusal(refusal, to: "XADD", stream: stream)
            guard refusal.mayPass else {
                fault = fault ?? why
                return
            }
            lastRefusal = why
            refusals[refusal.code, default: 0] += 1
            pauseEndMilliseconds = EventLoop.currentMilliseconds() + Self.pauseMilliseconds
            miss(place, .refused)
        }
    }

    private func miss(_ place: Int, _ state: State) {
        isRepeating = true
        entries[place]?.state = state
    }

    /// Forgets those at the front that are appended.
    private func popFinished() {
        while head < entries.count, entries[head]?.state == .appended {
            entries[head] = nil
            head += 1
            first += 1
        }
        if head == entries.count {
            entries.removeAll(keepingCapacity: true)
            head = 0
        } else if head > settings.mostUnanswered {
            entries.removeFirst(head)
            head = 0
        }
    }

    private func giveUp() {
        if case .failing(let why) = client.status {
            fault = why
        } else {
            fault =
                lastRefusal
                ?? RedisFault(
                    .timeout, "Redis has appended nothing for \(settings.patienceMilliseconds / 1000) s",
                    remedy: "look for slow commands (SLOWLOG), a saving fork or swapping there")
        }
    }
}
