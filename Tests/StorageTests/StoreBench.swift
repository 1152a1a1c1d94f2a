import Flow
import Storage

/// A store of one kind, seen by several members of a group.
protocol StoreBench: AnyObject {
    func ask(_ member: String, _ request: StoreRequest) throws -> StoreAnswer
    /// Ends the lease of a partition, as time does.
    func lapse(_ partition: Int32) throws
    /// Ends the time of what is kept for a time, as time does.
    func outlive(_ partition: Int32, _ ids: String...) throws
}

enum StoreKind: CaseIterable {
    case memory, redis

    func bench(topics: [String] = ["rides"]) throws -> any StoreBench {
        switch self {
        case .memory: MemoryBench(topics: topics)
        case .redis: try RedisBench(topics: topics)
        }
    }
}

final class MemoryBench: StoreBench {
    let ground = MemoryStore.Ground()
    private let topics: [String]
    private var now: Int64 = 1_800_000_000_000

    init(topics: [String] = ["rides"]) {
        self.topics = topics
    }

    func ask(_ member: String, _ request: StoreRequest) -> StoreAnswer {
        let group = GroupSettings(member: member, partitions: 8, topics: topics)
        var answers: [StoreAnswer] = []
        MemoryStore(group: group, ground: ground) { self.now }.perform(request) { answers.append($0) }
        precondition(answers.count == 1)
        return answers[0]
    }

    func lapse(_ partition: Int32) { now += 10_001 }
    func outlive(_ partition: Int32, _ ids: String...) { now += 3_600_000 }
}
