import Glibc
import Sockets
import Streams

/// Records that are taken between two turns of the loop.
private let recordsPerTurn = 256
/// Between two looks at a pipe that had no line.
private let pipeMilliseconds: Int32 = 5

/// A replay from its first record to the last answer.
final class ReplayRun<Writer: TopicWriter> {
    private let topic: TopicLoop
    private let replayer: Replayer
    private let writer: Writer
    private let begin = ContinuousClock.now
    private var hasRecord = false
    private var isAtEnd = false
    private var isPipeSilent = false
    private var behindMilliseconds = 0.0
    private var mostBehindMilliseconds = 0.0

    init(
        _ options: ReplayOptions, open: @escaping () throws(SourceFault) -> MergedRecordings,
        to writer: Writer, on topic: TopicLoop
    ) throws {
        self.topic = topic
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        replayer = try Replayer(
            options: options, beginMilliseconds: Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000, open: open)
        self.writer = writer
    }

    /// Until everything is appended. Stopped from outside it takes no more, and waits for the answers.
    func run() throws {
        while true {
            if !isAtEnd, !topic.isStopped { try take() }
            if writer.waiting == 0, isAtEnd || topic.isStopped { return }
            topic.turn(atMostMilliseconds: pauseMilliseconds)
            writer.advance()
            if let fault = writer.failure { throw fault }
        }
    }

    var report: ReplayReport {
        ReplayReport(
            records: writer.appended, seconds: elapsedMilliseconds / 1000, behindSeconds: behindMilliseconds / 1000,
            mostBehindSeconds: mostBehindMilliseconds / 1000, repeated: writer.repeated,
            undecodable: replayer.undecodable, refusals: writer.refusals)
    }

    private var elapsedMilliseconds: Double { (ContinuousClock.now - begin) / .milliseconds(1) }

    /// Hands over what is due and has room.
    private func take() throws {
        isPipeSilent = false
        var taken = 0
        while writer.hasRoom, taken < recordsPerTurn {
            let elapsed = elapsedMilliseconds
            if !hasRecord {
                switch try replayer.advance(elapsedMilliseconds: elapsed, waits: false) {
                case .record: hasRecord = true
                case .notYet:
                    isPipeSilent = true
                    return
                case .end:
                    isAtEnd = true
                    return
                }
            }
            guard replayer.dueMilliseconds <= elapsed else { return }
            replayer.withCurrent { writer.append($0) }
            hasRecord = false
            taken += 1
            if replayer.isPaced {
                behindMilliseconds = elapsed - replayer.dueMilliseconds
                mostBehindMilliseconds = max(mostBehindMilliseconds, behindMilliseconds)
            }
        }
    }

    /// Until there is something to hand over; answers come as events of the loop.
    private var pauseMilliseconds: Int32 {
        guard !isAtEnd, !topic.isStopped, writer.hasRoom else { return .max }
        if isPipeSilent { return pipeMilliseconds }
        guard hasRecord else { return 0 }
        return Int32(clamping: Int64(max(0, replayer.dueMilliseconds - elapsedMilliseconds).rounded(.up)))
    }
}
