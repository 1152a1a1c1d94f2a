import Flow
import Pacing
import Storage
import Testing

/// Two members ask at random, of the store in memory and of Redis: the answers are the same, but for numbers that are times.
@Suite("The store in memory and Redis")
struct StoreAgreementTests {
    private static let members = ["a", "b"]
    private static let ids = (0..<12).map { "activity \($0)" }
    private static let subjects = ["", "", "s", "t"]

    @Test("answer the same to the same requests", arguments: [1, 2, 3] as [UInt64])
    func same(seed: UInt64) throws {
        let memory = MemoryBench(topics: ["rides", "orders"])
        let redis = try RedisBench(topics: ["rides", "orders"])
        var random = SplitMix(seed: seed)
        func pick<Element>(_ elements: [Element]) -> Element { elements[Int(random.next() % UInt64(elements.count))] }
        /// What each subject's follower follows now: a member always tells what it left.
        var follows: [String: String] = [:]
        var epochs: [String: (memory: Epoch, redis: Epoch)] = [:]
        var record = 0 as Int64
        for step in 1...600 {
            let member = pick(Self.members)
            let epoch = epochs[member] ?? (1, 1)
            let request: (Epoch) -> StoreRequest
            switch random.next() % 20 {
            case 0: request = { _ in .beat }
            case 1: request = { _ in .leave }
            case 2, 3: request = { _ in .claim(partition: 5) }
            case 4: request = { .renew(partition: 5, $0) }
            case 5: request = { .release(partition: 5, $0) }
            case 6:
                memory.lapse(5)
                try redis.lapse(5)
                try redis.server.call("DEL", "g:members")
                continue
            case 7...10:
                let keys = (0..<5).map { _ in pick(Self.ids + ["s", "t"]) }
                request = {
                    .load(partition: 5, $0, Set(keys).sorted().map { $0.count == 1 ? .subject($0) : .activity($0) })
                }
            case 11, 12:
                let from = Int64(random.next() % 50)
                let limit = Int(random.next() % 9)
                request = {
                    .loadDue(partition: 5, $0, fromMilliseconds: from, throughMilliseconds: from + 30, limit: limit)
                }
            default:
                record += 1
                let kept = Set((0..<4).map { _ in pick(Self.ids) }).sorted().map { id in
                    let subject = pick(Self.subjects)
                    let former = follows[id] ?? ""
                    follows[id] = subject
                    return Kept(
                        id, "\(step)", due: random.next() % 2 == 0 ? Int64(random.next() % 80) : nil, subject: subject,
                        formerSubject: former == subject ? "" : former)
                }
                let position = SettledPosition(offset: record << 20, records: record)
                let batch = CheckpointBatch(
                    kept, positions: [record % 2 == 0 ? position : nil, record % 3 == 0 ? position : nil])
                // A save that is lost changes nothing, so nobody follows what it says.
                if epochs[member] == nil { continue }
                request = { .save(partition: 5, $0, batch) }
            }
            let answers = (memory.ask(member, request(epoch.memory)), try redis.ask(member, request(epoch.redis)))
            let texts = (Self.text(answers.0), Self.text(answers.1))
            try #require(texts.0 == texts.1, "seed \(seed), step \(step): \(request(epoch.memory))")
            if let first = answers.0.claim, let second = answers.1.claim {
                epochs = [member: (first.epoch, second.epoch)]
            }
            if answers.0.isReleased { epochs[member] = nil }
        }
    }

    /// An answer without what is a time.
    private static func text(_ answer: StoreAnswer) -> String {
        switch answer {
        case .claimed(let claim): "claimed \(claim.positions), \(claim.absenceMilliseconds == nil ? "new" : "known")"
        case .held(let member, _): "held by \(member)"
        case .loaded(let found):
            "loaded "
                + found.map {
                    let name = String(decoding: $0.identifier + [32] + $0.bytes, as: UTF8.self)
                    return "\(name) \($0.dueMilliseconds.map(String.init) ?? "")"
                }.sorted().joined(separator: ", ")
        default: "\(answer)"
        }
    }
}
