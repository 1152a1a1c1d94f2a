import Configuration
import KafkaClient
import Sockets
import Streams

extension Redrive {
    /// A consumer group of its own, so that no member's is touched.
    private static func group(_ configuration: Configuration) -> String { configuration[Options.kafka.group] + ".dlq" }

    /// - Parameter isAgain: from the first letter that is there, whatever was published before.
    mutating func topic(
        _ place: KafkaTopicPlace, _ prefix: String, _ rate: Double?, again isAgain: Bool, _ signals: StopSignals
    ) throws {
        let loop = try TopicLoop(signals: signals)
        let name = prefix + place.topic
        let partitions = try loop.partitionCount(of: name, at: place.settings)
        // A letter whose topic is gone is told before any is published.
        _ = try loop.partitionCount(of: place.topic, at: place.settings)
        var reading = KafkaReading(partitions: partitions)
        reading.group = Self.group(place.configuration)
        let reader = try loop.reader(place.settings, reading)
        defer { reader.close() }
        let producer = try loop.producer(place.settings, KafkaProducing())
        defer { producer.close() }
        let letters = KafkaDeadLetters(reader: reader, topic: name)
        let publishing = KafkaRedrive(producer: producer, topic: place.topic)
        let noted = try loop.answer { letters.redriven(partitions: Int32(partitions), done: $0) }
        /// By partition: a letter was left, and the place that is noted does not move any more.
        var isHeld = Array(repeating: false, count: partitions)
        let begin = EventLoop.currentMilliseconds()
        var walk = walk
        try walk.topic(
            letters, begin: isAgain ? Array(repeating: nil, count: partitions) : noted, isBounded: true, on: loop
        ) {
            partition, page, taken in
            let records = taken.filter { takes($0.letter) }
            guard !isDry else {
                published += records.count
                return true
            }
            let notPublished = try publish(records[...], publishing, rate, since: begin, loop)
            // Updates are passed: they will never be published.
            let isLeft = { (stored: KafkaDeadLetters.Stored) in
                stored.letter.stage != .push && !taken.contains { $0.offset == stored.offset }
            }
            let firstLeft = [page.letters.first(where: isLeft)?.offset, notPublished].compactMap { $0 }.min()
            if !isHeld[Int(partition)], let end = firstLeft ?? page.next {
                // Nothing that was noted is taken back.
                if end > noted[Int(partition)] ?? 0 {
                    try loop.answer { letters.note(end, of: partition, done: $0) }
                }
                isHeld[Int(partition)] = firstLeft != nil
            }
            if let fault = publishing.fault { throw fault }
            return !isStopped
        }
        self.walk = walk
    }

    /// A step at a time, each acknowledged before the next.
    ///
    /// - Returns: the first that was not published, where it was stopped or failed.
    private mutating func publish(
        _ records: ArraySlice<KafkaDeadLetters.Stored>, _ publishing: KafkaRedrive, _ rate: Double?,
        since begin: Int64, _ loop: TopicLoop
    ) throws -> Int64? {
        var rest = records
        while let first = rest.first {
            let step = rest.prefix(try room(rate, since: begin, on: loop))
            guard !loop.isStopped else {
                isStopped = true
                return first.offset
            }
            for stored in step {
                while !publishing.publish(stored.letter), publishing.fault == nil { loop.turn() }
            }
            while publishing.waiting > 0 { loop.turn() }
            guard publishing.fault == nil else { return first.offset }
            published += step.count
            rest = rest.dropFirst(step.count)
        }
        return nil
    }
}
