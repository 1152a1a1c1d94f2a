import Sockets
import Testing

@testable import KafkaClient

/// A member of a group and its reader: reads whatever it is given from where the group has committed, and keeps what it is told.
final class Rider {
    let bench: Bench
    let member: KafkaMember
    let reader: KafkaReader
    private(set) var events: [KafkaMemberEvent] = []
    /// What it read, in order, by partition.
    private(set) var values: [KafkaTopicPartition: [String]] = [:]
    /// Partitions that are to be released by the test; others are at once, with all that was read committed.
    var holds: Set<KafkaTopicPartition> = []
    /// Where its group stands, if it goes by that and not by what is committed.
    let ledger: Ledger?
    private var places: [KafkaTopicPartition: Int64] = [:]
    private let batch = KafkaBatch(capacity: 50)

    init(
        _ bench: Bench, _ topics: [String] = ["rides"], group: String = "pulse", ledger: Ledger? = nil,
        membership change: (inout KafkaGroup) -> Void = { _ in }
    ) throws {
        self.bench = bench
        self.ledger = ledger
        var membership = KafkaGroup(id: group, topics: topics)
        // The mock's first round takes three seconds.
        membership.sessionTimeoutMilliseconds = 4_000
        membership.commitIntervalMilliseconds = 50
        change(&membership)
        var settings = bench.settings
        member = try KafkaMember(
            settings: settings, group: membership, loop: bench.loop, instruments: bench.instruments, log: bench.log)
        settings.clientID = "reader"
        reader = try KafkaReader(
            settings: settings, reading: KafkaReading(partitions: 8), loop: bench.loop,
            instruments: bench.instruments, log: bench.log)
        member.onEvent = { [unowned self] in heard($0) }
    }

    private func heard(_ event: KafkaMemberEvent) {
        events.append(event)
        switch event {
        case .assigned(let partitions): open(partitions)
        case .revoked(let partitions):
            for partition in partitions {
                places[partition] = reader.partitions[partition]?.position
                reader.close(partition)
                if !holds.contains(partition) { release(partition) }
            }
        case .lost(let partitions):
            for partition in partitions { reader.close(partition) }
        case .released, .fault, .committedAgain: break
        }
    }

    private func open(_ partitions: [KafkaTopicPartition]) {
        if let ledger {
            for partition in partitions {
                #expect(throws: Never.self) {
                    try reader.open(partition, at: .offset(ledger.places[partition] ?? 0))
                }
            }
            return
        }
        member.committed(of: partitions) { [unowned self] answer in
            do throws(KafkaFault) {
                for (partition, offset) in zip(partitions, try answer.get()) where member.owned.contains(partition) {
                    try reader.open(partition, at: offset.map { .offset($0) } ?? .beginning)
                }
            } catch {
                Issue.record(error)
            }
        }
    }

    /// What its reader had come to is what is committed.
    func release(_ partition: KafkaTopicPartition) { member.release(partition, committing: places[partition]) }

    /// Reads what is there. Stores it all as settled.
    func read() {
        for (partition, reader) in reader.partitions {
            while reader.read(into: batch) > 0 {
                for place in 0..<batch.count { values[partition, default: []].append(batch[place].text) }
                batch.giveBack()
                if let position = reader.position {
                    ledger?.places[partition] = position
                    member.store(position, of: partition)
                }
            }
        }
    }

    var open: [Int32] { reader.partitions.keys.map(\.partition).sorted() }
    var count: Int { values.values.reduce(0) { $0 + $1.count } }

    func heard(_ wanted: (KafkaMemberEvent) -> Bool) -> Bool { events.contains(where: wanted) }

    @discardableResult
    func close(sourceLocation: SourceLocation = #_sourceLocation) -> KafkaFault? {
        let fault = bench.close(member, sourceLocation: sourceLocation)
        bench.close(reader, sourceLocation: sourceLocation)
        return fault
    }
}

/// Where a group stands, as a store of its own would know.
final class Ledger {
    var places: [KafkaTopicPartition: Int64] = [:]
}

extension Bench {
    /// Has all riders read, turn by turn, until it holds.
    func ride(_ riders: Rider..., until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        drive(
            until: {
                for rider in riders { rider.read() }
                return condition()
            }, sourceLocation: sourceLocation)
    }
}
