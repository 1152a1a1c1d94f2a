import Instruments
import Sockets
import Streams
import Telemetry

/// Writes feedback on a thread of its own, a batch at a time, again and again until it is kept. What waits is bounded by whoever fills the box.
///
/// Belongs to its loop's thread.
final class FeedbackWriter {
    private static let linesAWrite = 1_000
    private static let retryMilliseconds: Int64 = 500

    private let box: FeedbackBox
    private let sink: any FeedbackSink
    private let apps: [String]
    private let instruments: FeedbackInstruments
    private let log: Log
    // It owns what calls this.
    private unowned let loop: EventLoop
    private var retry: LoopTimer!
    private var arrivals: [FeedbackNote] = []
    private var waiting: [FeedbackLine] = []
    private var kinds: [FeedbackEvent.Kind] = []
    /// The first of `waiting` that is not written.
    private var head = 0
    /// So many from there on are being written.
    private var underWay = 0
    private var isFailing = false
    private var line = ByteBuffer(capacity: 1_024)

    init(
        box: FeedbackBox, sink: any FeedbackSink, apps: [String], instruments: FeedbackInstruments, log: Log,
        loop: EventLoop
    ) {
        (self.box, self.sink, self.apps) = (box, sink, apps)
        (self.instruments, self.log, self.loop) = (instruments, log, loop)
        retry = loop.timer { [weak self] in self?.write() }
    }

    /// Takes what has come.
    func takeNotes() {
        box.take(into: &arrivals)
        for note in arrivals {
            let event = note.event(apps: apps)
            line.removeAll()
            line.append(event)
            waiting.append(FeedbackLine(partition: note.partition, key: event.activityIdentifier, value: line.bytes))
            kinds.append(note.kind)
        }
        arrivals.removeAll(keepingCapacity: true)
        if retry.deadlineMilliseconds == nil { write() }
    }

    func close() {
        retry.cancel()
        sink.close()
    }

    private func write() {
        guard underWay == 0, head < waiting.count else { return }
        underWay = min(Self.linesAWrite, waiting.count - head)
        sink.write(waiting[head..<head + underWay]) { [weak self] in self?.answered($0) }
    }

    private func answered(_ fault: SourceFault?) {
        let count = underWay
        underWay = 0
        guard let fault else {
            for kind in kinds[head..<head + count] {
                instruments.events.add(1, LabelPair(FeedbackInstruments.KindLabel(kind), .written))
            }
            head += count
            tidy()
            box.end(count)
            if isFailing { log.info("feedback is written again", .field("pending", waiting.count - head)) }
            isFailing = false
            // In a turn of its own where the sink answers at once: a long queue must not become a deep stack.
            if head < waiting.count { retry.schedule(atMilliseconds: loop.nowMilliseconds) }
            return
        }
        instruments.failures.add(1)
        if !isFailing {
            log.error("feedback cannot be written; it waits, and pushing goes on", .hint(fault.description))
        }
        isFailing = true
        retry.schedule(atMilliseconds: loop.nowMilliseconds + Self.retryMilliseconds)
    }

    /// Gives back what is written once it is half of all.
    private func tidy() {
        guard 2 * head >= waiting.count else { return }
        waiting.removeFirst(head)
        kinds.removeFirst(head)
        head = 0
    }
}
