import Instruments
import KafkaClient
import Sockets

/// Asks the cluster how many partitions the topics have, which has to be known before there is a member: until it answers, and while the
/// topics are not there, may not be seen, or differ.
public enum KafkaPartitionCount {
    private static let retryMilliseconds: Int64 = 1_000
    private static let turnMilliseconds: Int32 = 100

    /// Blocks the calling thread.
    ///
    /// - Parameter tell: is called with what is in the way, each time that it is found.
    /// - Returns: nil where it was stopped before.
    /// - Throws: a setting that librdkafka does not take.
    public static func find(
        _ settings: KafkaSourceSettings, log: Log, stop: StopRequest, tell: (String) -> Void
    ) throws -> Int? {
        let loop = try EventLoop()
        let topics = try KafkaTopics(
            settings: settings.kafka, loop: loop, instruments: KafkaInstruments(registry: Registry()), log: log)
        defer { topics.close() }
        var answer: Result<Int, KafkaFault>?
        var isAsking = false
        var nextMilliseconds = Int64.min
        var told: String?
        while !stop.isStopped {
            let now = EventLoop.currentMilliseconds()
            if !isAsking, now >= nextMilliseconds {
                isAsking = true
                nextMilliseconds = now + retryMilliseconds
                topics.partitionCounts(of: settings.feed.topics) {
                    isAsking = false
                    answer = count(settings.feed.topics, $0)
                }
            }
            loop.runOnce(timeoutMilliseconds: turnMilliseconds)
            switch answer {
            case .success(let count): return count
            case .failure(let fault):
                // What is wrong with a connection it says itself, and better than a question that was not answered.
                var why = fault.description
                if case .failing(let fault) = topics.status { why = fault.description }
                if why != told { log.error("the topics cannot be read", .hint(why)) }
                told = why
                tell(why)
            case nil: break
            }
            answer = nil
        }
        return nil
    }

    private static func count(_ topics: [String], _ answers: [Result<Int, KafkaFault>]) -> Result<Int, KafkaFault> {
        var counts: [Int] = []
        for answer in answers {
            switch answer {
            case .success(let count): counts.append(count)
            case .failure(let fault): return .failure(fault)
            }
        }
        guard Set(counts).count == 1, let count = counts.first else {
            let found = zip(topics, counts).map { "\($0) \($1)" }.joined(separator: ", ")
            return .failure(
                KafkaFault(
                    .refused, "the topics have different numbers of partitions (\(found))",
                    remedy:
                        "give all the same number: events of one activity lie in the partition of the same number of each, by their key"
                ))
        }
        guard count <= mostPartitions else {
            return .failure(
                KafkaFault(
                    .refused, "the topics have \(count) partitions",
                    remedy: "use topics with at most \(mostPartitions)"))
        }
        return .success(count)
    }

    private static let mostPartitions = 1_024
}
