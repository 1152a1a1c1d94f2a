import RedisClient
import RedisFixture
import Sockets
import Testing

@testable import Streams

/// Appends numbered records, each to the partition of its number, as fast as they are taken.
private final class Producer {
    private let bench: StreamBench
    let writer: RedisStreamWriter
    private let partitions: Int
    private(set) var taken = 0

    init(_ bench: StreamBench, partitions: Int32 = 3, _ change: (inout RedisStreamWriter.Settings) -> Void = { _ in }) {
        self.bench = bench
        self.partitions = Int(partitions)
        var settings = RedisStreamWriter.Settings(topic: "rides", partitions: partitions)
        settings.mostUnanswered = 64
        change(&settings)
        writer = RedisStreamWriter(client: bench.client, settings: settings)
    }

    private func fill(upTo most: Int) {
        while taken < most, writer.hasRoom {
            let (key, value) = (Array("k\(taken % 7)".utf8), Array("\(taken)".utf8))
            key.withUnsafeBytes { key in
                value.withUnsafeBytes { value in
                    writer.append(
                        ReplayedRecord(
                            partition: Int32(taken % partitions),
                            key: taken % 5 == 0 ? UnsafeRawBufferPointer(rebasing: key[..<0]) : key,
                            value: value, dueMilliseconds: 0))
                }
            }
            taken += 1
        }
    }

    /// Until so many are in their streams, or it has given up.
    func produce(_ most: Int, until holds: () -> Bool = { false }) {
        bench.drive {
            fill(upTo: most)
            writer.advance()
        } until: {
            writer.fault != nil || (taken == most && writer.waiting == 0) || holds()
        }
    }

    /// The numbers in a stream, in its order.
    func numbers(_ partition: Int) throws -> [Int] {
        try bench.entries("rides:{\(partition)}").map { Int($0.last ?? "") ?? -1 }
    }

    /// Nothing is missing, and whatever is there twice does not stand behind what came after it.
    func expectAll(_ most: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for partition in 0..<partitions {
            let found = try numbers(partition)
            var last: [Int: Int] = [:]
            for (place, number) in found.enumerated() { last[number] = place }
            let inOrder = last.sorted { $0.value < $1.value }.map(\.key)
            #expect(inOrder == Array(stride(from: partition, to: most, by: partitions)), sourceLocation: sourceLocation)
        }
    }
}

@Suite("Appending to streams")
struct RedisStreamWriterTests {
    @Test("Records are in their streams, in order, with key and body")
    func appended() throws {
        let bench = try StreamBench()
        let producer = Producer(bench) { $0.bodyField = "payload" }
        producer.produce(500)
        #expect(producer.writer.appended == 500)
        #expect(producer.writer.repeated == 0)
        try producer.expectAll(500)
        #expect(try bench.entries("rides:{1}").first == ["key", "k1", "payload", "1"])
        // A record that has no key says none.
        #expect(try bench.entries("rides:{0}").first == ["payload", "0"])
    }

    @Test("No more are unanswered than may be")
    func bounded() throws {
        let bench = try StreamBench()
        let producer = Producer(bench)
        bench.server.freeze()
        producer.produce(500, until: { producer.taken == 64 })
        #expect(!producer.writer.hasRoom)
        #expect(producer.writer.waiting == 64)
        bench.server.thaw()
        producer.produce(500)
        try producer.expectAll(500)
    }

    @Test("Streams are kept short where that is asked for")
    func trimmed() throws {
        let bench = try StreamBench(["--stream-node-max-entries", "10"])
        let producer = Producer(bench, partitions: 1) { $0.maxLength = 20 }
        producer.produce(500)
        let length = try bench.server.call("XLEN", "rides:{0}").integer ?? 0
        #expect(20..<50 ~= length)
    }

    @Test("A key that is no stream ends it, and says so")
    func wrongType() throws {
        let bench = try StreamBench()
        try bench.server.call("SET", "rides:{1}", "text")
        let producer = Producer(bench)
        producer.produce(500)
        #expect(
            producer.writer.fault?.problem
                == "Redis refuses XADD on rides:{1} (WRONGTYPE Operation against a key holding the wrong kind of value)"
        )
        #expect(producer.writer.fault?.remedy == "choose another topic, or remove that key: it is no stream")
    }

    @Test("A user without the right is told so")
    func noPermission() throws {
        let bench = try StreamBench()
        try bench.server.call("ACL", "SETUSER", "default", "-xadd")
        let producer = Producer(bench)
        producer.produce(10)
        #expect(producer.writer.fault?.kind == .forbidden)
    }

    @Test("While memory is full records wait, and then are appended in order")
    func fullMemory() throws {
        let bench = try StreamBench()
        let producer = Producer(bench)
        producer.produce(100)
        try bench.server.call("CONFIG", "SET", "maxmemory", "1")
        producer.produce(500, until: { producer.writer.refusals["OOM"] ?? 0 > 0 })
        try bench.server.call("CONFIG", "SET", "maxmemory", "0")
        producer.produce(500)
        #expect(producer.writer.fault == nil)
        #expect(producer.writer.appended == 500)
        try producer.expectAll(500)
    }

    @Test("After a kill -9 of Redis nothing is missing, and the last word on anything is the last entry")
    func killed() throws {
        let bench = try StreamBench(["--appendonly", "yes", "--appendfsync", "always"])
        let producer = Producer(bench)
        for round in 1...4 {
            producer.produce(10_000, until: { producer.writer.appended >= round * 500 })
            bench.server.kill()
            // Some of what was sent is lost with it, some is not sent.
            producer.produce(10_000, until: { bench.client.status != .connected })
            try bench.server.start()
        }
        producer.produce(10_000)
        #expect(producer.writer.fault == nil)
        #expect(producer.writer.appended == 10_000)
        try producer.expectAll(10_000)
    }

    @Test("A Redis that does not come back ends it, with what is wrong")
    func gone() throws {
        let bench = try StreamBench()
        let producer = Producer(bench) { $0.patienceMilliseconds = 300 }
        producer.produce(100)
        bench.server.kill()
        producer.produce(500)
        #expect(producer.writer.fault?.problem.contains("127.0.0.1:\(bench.server.port)") == true)
        #expect(producer.writer.fault?.problem.contains("Connection refused") == true)
    }
}
