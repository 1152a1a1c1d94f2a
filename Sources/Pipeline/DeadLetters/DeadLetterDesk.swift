import Flow
import Glibc
import Instruments
import Streams

/// Takes what cannot be used, and keeps it until it is written where it belongs. Says when no more is to be read: too many wait, or too many of
/// the records are bad.
///
/// Belongs to the run's thread. Good records cost it one addition a turn.
final class DeadLetterDesk {
    /// Which record's position waits for a letter.
    struct Hold: Equatable {
        let partition: Int32
        let source: Int
        let offset: Int64
        let epoch: Epoch
    }

    private struct Waiting {
        let letter: DeadLetter
        let hold: Hold?
    }

    /// What waits for one place, the oldest first.
    private struct Queue {
        var waiting: [Waiting] = []
        /// So many of the first ones are being written.
        var underWay = 0
        var retryAtMilliseconds = Int64.min
        var fault: SourceFault?
    }

    private static let lettersAWrite = 64
    private static let bytesAWrite = 1 << 20
    private static let retryMilliseconds: Int64 = 500
    /// Beside `maxPending`: that many large records would take too much memory.
    private static let mostPendingBytes = 64 << 20

    private let sink: (any DeadLetterSink)?
    private let maxPending: Int
    private let instruments: DeadLetterInstruments
    private let alarms: Counter<LaneInstruments.AlarmLabel>
    private let log: Log
    private let flood: FloodGuard.Settings
    private var guardian: FloodGuard
    private var queues: [String: Queue] = [:]
    private var nowMilliseconds: Int64 = 0
    private(set) var pending = 0
    private var pendingBytes = 0
    private var isFull = false
    /// Since it was last told how many records were read.
    private var badOfTurn = 0
    private var isFloodTold = false
    /// Found before there was a letter.
    private var standing: SourceFault?
    private var nextCheckMilliseconds = Int64.min
    private static let recheckMilliseconds: Int64 = 5_000
    /// Called when the letter of a held record is written.
    var onWritten: ((Hold) -> Void)?

    init(
        settings: DeadLetterSettings, sink: (any DeadLetterSink)?, registry: Registry,
        alarms: Counter<LaneInstruments.AlarmLabel>, log: Log
    ) {
        self.sink = sink
        maxPending = settings.maxPending
        flood = settings.flood
        guardian = FloodGuard(settings.flood)
        instruments = DeadLetterInstruments(registry: registry)
        self.alarms = alarms
        self.log = log
    }

    /// Whether letters are kept at all.
    var keeps: Bool { sink != nil }

    // MARK: What comes

    /// So many records were read, those that could not be used included.
    func noteRead(_ records: Int) {
        guardian.note(records: records, letters: badOfTurn, nowMilliseconds: nowMilliseconds)
        guard badOfTurn > 0 else { return }
        badOfTurn = 0
        tellFlood()
    }

    /// - Parameter hold: the record whose position must not be passed before it is written.
    func take(_ letter: DeadLetter, hold: Hold? = nil) {
        if letter.stage != .push { badOfTurn += 1 }
        guard let sink else { return }
        let place = sink.place(of: letter)
        queues[place, default: Queue()].waiting.append(Waiting(letter: letter, hold: hold))
        pending += 1
        pendingBytes += letter.byteCount
        if pending >= maxPending || pendingBytes >= Self.mostPendingBytes { fill() }
    }

    private func tellFlood() {
        guard !isFloodTold, let tripped = guardian.tripped else { return }
        isFloodTold = true
        alarms.add(1, .deadLetters)
        instruments.stopped.set(1, .flood)
        log.error(
            "reading stops: too many records cannot be used", .field("deadLetters", tripped.letters),
            .field("records", tripped.records), .field("windowMilliseconds", flood.windowMilliseconds),
            .hint(Self.floodRemedy))
    }

    private func fill() {
        guard !isFull else { return }
        isFull = true
        instruments.stopped.set(1, .pending)
        log.error(
            "reading stops: too many dead letters wait to be written", .field("pending", pending),
            .hint("it goes on when half of them are written"))
    }

    // MARK: Writing

    /// Hands over what waits. To be called each turn; nearly always there is nothing.
    func advance(nowMilliseconds now: Int64) {
        nowMilliseconds = now
        if now >= nextCheckMilliseconds { check() }
        guard pending > 0 else { return }
        // All of a turn together, and each place by itself: one that fails holds up no other.
        for place in queues.keys { write(place) }
    }

    /// Before the first letter, and again while something is in the way.
    private func check() {
        nextCheckMilliseconds = .max
        sink?.check { [weak self] check in
            guard let self else { return }
            switch check {
            case .passed: standing = nil
            case .refused(let fault):
                if standing == nil {
                    log.error("dead letters could not be written if there were any", .hint(fault.description))
                }
                standing = fault
                nextCheckMilliseconds = nowMilliseconds + Self.recheckMilliseconds
            case .unanswered: nextCheckMilliseconds = nowMilliseconds + Self.recheckMilliseconds
            }
        }
    }

    private func write(_ place: String) {
        while let queue = queues[place], queue.underWay == 0, !queue.waiting.isEmpty,
            nowMilliseconds >= queue.retryAtMilliseconds
        {
            var bytes = 0
            let letters = queue.waiting.prefix(Self.lettersAWrite).prefix { waiting in
                defer { bytes += waiting.letter.byteCount }
                return bytes < Self.bytesAWrite
            }.map(\.letter)
            queues[place]?.underWay = letters.count
            sink?.write(letters, to: place) { [weak self] in self?.answered(place, letters.count, $0) }
        }
    }

    private func answered(_ place: String, _ count: Int, _ outcome: DeadLetterOutcome) {
        guard var queue = queues[place] else { return }
        queue.underWay = 0
        switch outcome {
        case .written(let trimmed):
            let done = queue.waiting.prefix(count)
            queue.waiting.removeFirst(count)
            queue.fault = nil
            queues[place] = queue.waiting.isEmpty ? nil : queue
            for waiting in done {
                instruments.written.add(1, DeadLetterInstruments.StageLabel(waiting.letter.stage))
                pending -= 1
                pendingBytes -= waiting.letter.byteCount
                if let hold = waiting.hold { onWritten?(hold) }
            }
            if trimmed > 0 { noteTrimmed(trimmed, place) }
            if isFull, pending <= maxPending / 2, pendingBytes <= Self.mostPendingBytes / 2 {
                isFull = false
                instruments.stopped.set(0, .pending)
                log.info("reading goes on: dead letters are written again", .field("pending", pending))
            }
        case .failed(let fault):
            instruments.failures.add(1)
            if queue.fault == nil {
                log.error(
                    "dead letters cannot be written, and the positions of their records wait for it",
                    .field("place", place), .hint(fault.description))
            }
            queue.fault = fault
            queue.retryAtMilliseconds = nowMilliseconds + Self.retryMilliseconds
            queues[place] = queue
        }
    }

    private func noteTrimmed(_ count: Int, _ place: String) {
        instruments.trimmed.add(Int64(count))
        log.warning(
            "older dead letters were trimmed", .field("place", place), .field("count", count),
            .hint("deadLetters.maxLength and maxAge say how many are kept; waypulse dlq redrive makes room"))
    }

    // MARK: What it means for the run

    var isFlooded: Bool { guardian.tripped != nil }

    /// Whether more may be read.
    var takesMore: Bool { !isFull && guardian.tripped == nil }

    /// Why this process cannot do all that it is for; nil where it can.
    var hindrance: String? {
        if let tripped = guardian.tripped {
            return "\(tripped.letters) of \(tripped.records) records could not be used within "
                + "\(flood.windowMilliseconds / 1000) s, and nothing more is read; \(Self.floodRemedy)"
        }
        return fault?.description
    }

    /// Why something waits.
    var fault: SourceFault? {
        pending > 0 ? queues.values.lazy.compactMap(\.fault).first ?? standing : standing
    }

    private static let floodRemedy =
        "look at them (waypulse dlq list), mend what publishes them, and start again; or raise deadLetters.maxRatio (1 never stops)"

    func publish() { instruments.pending.set(Int64(pending)) }
}
