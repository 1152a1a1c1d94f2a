import RedisClient
import Sockets
import Streams

/// One redrive from its first letter to its report.
struct Redrive {
    var walk: DlqWalk
    let isDry: Bool
    private var sum = DlqSum()
    var published = 0
    /// Taken by somebody else, or standing there twice.
    private var gone = 0
    private var updates = 0
    var isStopped = false

    init(walk: DlqWalk, isDry: Bool) {
        (self.walk, self.isDry) = (walk, isDry)
    }

    /// Whether all was done that was asked for.
    var isWhole: Bool { !isStopped && updates == 0 }

    mutating func takes(_ letter: DeadLetter) -> Bool {
        guard letter.stage != .push else {
            updates += 1
            return false
        }
        sum.add(letter)
        return true
    }

    mutating func files(_ paths: [String], to path: String?) throws {
        // A file that is there already is told before anything is read.
        let writer = isDry ? nil : try path.map { path throws(SourceFault) in try RecordingWriter(path: path) }
        var written: Set<[String]> = []
        var walk = walk
        try walk.files(paths) { _, letter in
            guard takes(letter) else { return true }
            // Where a process was killed between letter and position, its successor wrote the letter again.
            let isKnown = letter.offset >= 0 || letter.record != nil
            guard !isKnown || written.insert([letter.source, letter.origin, "\(letter.partition)"]).inserted else {
                gone += 1
                return true
            }
            published += 1
            try writer?.write { $0.append(recorded: letter) }
            return true
        }
        self.walk = walk
        try writer?.finish()
    }

    mutating func streams(
        _ place: RedisTopicPlace, _ topic: String, _ prefix: String, _ rate: Double?, _ signals: StopSignals
    ) throws {
        let loop = try TopicLoop(signals: signals)
        let letters = RedisDeadLetters(client: try loop.redis(place.redis), topic: topic, topicPrefix: prefix)
        let begin = EventLoop.currentMilliseconds()
        var walk = walk
        try walk.streams(letters, partitions: place.partitions, on: loop) { partition, page in
            var rest = page.filter { takes($0.letter) }[...]
            while !rest.isEmpty {
                guard !isDry else {
                    published += rest.count
                    return true
                }
                let some = rest.prefix(try room(rate, since: begin, on: loop))
                guard !loop.isStopped else {
                    isStopped = true
                    return false
                }
                rest = rest.dropFirst(some.count)
                let done = try publish(Array(some), of: partition, letters, loop)
                published += done.published
                gone += done.gone
            }
            return true
        }
        self.walk = walk
    }

    static let lettersAStep = 64
    private static let mostTries = 5

    /// How many may go now; it waits until there is one, or somebody stops it.
    func room(_ rate: Double?, since begin: Int64, on loop: TopicLoop) throws -> Int {
        guard let rate else { return Self.lettersAStep }
        while !loop.isStopped {
            let due = Double(EventLoop.currentMilliseconds() - begin) / 1000 * rate + 1 - Double(published + gone)
            if due >= 1 { return Int(min(due, Double(Self.lettersAStep))) }
            loop.turn(atMostMilliseconds: Int32(min(100, max(1, (1 - due) / rate * 1000))))
        }
        return 0
    }

    /// Where an answer was lost it is asked again: what was published then is gone from the dead letters.
    private func publish(
        _ some: [RedisDeadLetters.Stored], of partition: Int32, _ letters: RedisDeadLetters, _ loop: TopicLoop
    ) throws -> RedisDeadLetters.Redriven {
        var tries = 1
        while true {
            do {
                return try loop.answer { letters.redrive(some, of: partition, done: $0) }
            } catch let fault as RedisFault where tries < Self.mostTries && fault.kind == .timeout {
                tries += 1
            }
        }
    }

    func text(of place: DlqPlace) -> String {
        var text =
            isDry
            ? "\(Figures.counted(published, "record")) would be published again, nothing was done\n"
            : "\(Figures.counted(published, "record")) published again, from \(place.description)\n"
        if published + gone > 0 { text += sum.rows }
        if gone > 0 { text += "  \(gone) that were published before, or stand there twice\n" }
        if updates > 0 { text += "  \(Figures.counted(updates, "update")) left: no record to publish\n" }
        if isStopped { text += "  stopped before the end\n" }
        return text
    }

    var json: String {
        #"{"dryRun":\#(isDry),"published":\#(published),"gone":\#(gone),"updatesLeft":\#(updates),"stopped":\#(isStopped),"reasons":\#(sum.json)}"#
    }
}
