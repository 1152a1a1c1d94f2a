import KafkaClient
import RedisClient
import Streams

/// Goes through dead letters, in files line by line, in streams and topics partition by partition in the order of their ids or offsets.
struct DlqWalk {
    private static let pageCount = 200

    let place: DlqPlace
    let filter: DlqFilter
    /// What was there and is no dead letter.
    private(set) var strangers = 0

    init(_ place: DlqPlace, _ filter: DlqFilter) {
        self.place = place
        self.filter = filter
    }

    /// Those that the filter takes, until `body` returns false.
    ///
    /// - Parameter body: is given the id by which people call the letter: its line in a file, partition and entry in streams.
    mutating func files(_ paths: [String], _ body: (String, DeadLetter) throws -> Bool) throws {
        for path in paths {
            let reader = try DeadLetterReader(path: path)
            defer { strangers += reader.strangers }
            while let letter = try reader.next() {
                let identifier = paths.count == 1 ? "\(reader.lineNumber)" : "\(path):\(reader.lineNumber)"
                guard filter.takes(letter, identifier: identifier) else { continue }
                guard try body(identifier, letter) else { return }
            }
        }
    }

    /// The same, a page of a partition at a time. What is added meanwhile is left for another time.
    mutating func streams(
        _ letters: RedisDeadLetters, partitions: Int32, on topic: TopicLoop,
        _ body: (Int32, [RedisDeadLetters.Stored]) throws -> Bool
    ) throws {
        for partition in 0..<partitions where filter.partition ?? partition == partition {
            guard let newest = try topic.answer({ letters.newest(partition, done: $0) }) else { continue }
            var last: RedisStreamID?
            repeat {
                let page = try topic.answer {
                    letters.page(partition, after: last, through: newest, count: Self.pageCount, done: $0)
                }
                strangers += page.strangers
                last = page.last
                let taken = page.letters.filter {
                    filter.takes($0.letter, identifier: Self.name(partition, $0.identifier))
                }
                guard try body(partition, taken) else { return }
            } while last != nil
        }
    }

    /// The same of a topic, from where `begin` says.
    ///
    /// - Parameters:
    ///   - begin: by partition; nil for its beginning.
    ///   - isBounded: whether what is added meanwhile is left for another time.
    ///   - body: is given what the filter takes of a page, and where it ends.
    mutating func topic(
        _ letters: KafkaDeadLetters, begin: [Int64?], isBounded: Bool, on loop: TopicLoop,
        _ body: (Int32, KafkaDeadLetters.Page, _ taken: [KafkaDeadLetters.Stored]) throws -> Bool
    ) throws {
        for partition in 0..<Int32(begin.count) where filter.partition.map({ $0 == partition }) ?? true {
            let range = try loop.answer { letters.range(of: partition, done: $0) }
            let first = max(range.low, min(begin[Int(partition)] ?? range.low, range.high))
            guard first < range.high else { continue }
            try letters.begin(partition, at: first, upTo: isBounded ? range.high : nil)
            while !letters.isAtEnd {
                guard !loop.isStopped else { throw CommandFault(.failure, "stopped") }
                guard let page = letters.next() else {
                    if let fault = letters.fault { throw fault }
                    loop.turn()
                    continue
                }
                strangers += page.strangers
                let taken = page.letters.filter {
                    filter.takes($0.letter, identifier: Self.name(partition, $0.offset))
                }
                guard try body(partition, page, taken) else { return }
            }
        }
    }

    static func name(_ partition: Int32, _ offset: Int64) -> String { "\(partition)/\(offset)" }

    static func name(_ partition: Int32, _ identifier: RedisStreamID) -> String { "\(partition)/\(identifier)" }

    /// All of them, wherever they are.
    mutating func letters(_ signals: StopSignals, _ body: (String, DeadLetter) throws -> Bool) throws {
        switch place {
        case .files(let paths): try files(paths, body)
        case .streams(let place, let topic, let prefix):
            let loop = try TopicLoop(signals: signals)
            let letters = RedisDeadLetters(client: try loop.redis(place.redis), topic: topic, topicPrefix: prefix)
            try streams(letters, partitions: place.partitions, on: loop) { partition, page in
                for stored in page {
                    guard try body(Self.name(partition, stored.identifier), stored.letter) else { return false }
                }
                return true
            }
        case .topic(let place, let prefix):
            let loop = try TopicLoop(signals: signals)
            let name = prefix + place.topic
            let partitions = try loop.partitionCount(of: name, at: place.settings)
            let reader = try loop.reader(place.settings, KafkaReading(partitions: partitions))
            defer { reader.close() }
            let letters = KafkaDeadLetters(reader: reader, topic: name)
            try topic(letters, begin: Array(repeating: nil, count: partitions), isBounded: false, on: loop) {
                partition, _, taken in
                for stored in taken {
                    guard try body(Self.name(partition, stored.offset), stored.letter) else { return false }
                }
                return true
            }
        }
    }

    func warn() {
        guard strangers > 0 else { return }
        Console.say(
            "warning: \(Figures.counted(strangers, "line or entry", "lines or entries")) there that \(strangers == 1 ? "is" : "are") no dead letter, left out"
        )
    }
}
