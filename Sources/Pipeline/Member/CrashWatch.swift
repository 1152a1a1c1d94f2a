import Flow
import Instruments
import RedisClient
import Streams

/// Finds the record that ends processes: which one was in work at the end is noted in a file (`WorkMark`), counted in Redis for all members of
/// the group, and known to each before it reads a partition. After so many ends a record is not looked at any more.
///
/// Belongs to the run's thread.
final class CrashWatch {
    let mark: WorkMark
    private let client: RedisClient
    private let group: String
    private let names: SourceNames
    private let maxCrashes: Int
    private let log: Log
    private let key: String
    private var hasReported = false
    /// By stream or topic and partition.
    private var poison: [String: Set<Int64>] = [:]
    private var asked = 0
    private var answered = 0
    private var isAsking = false

    /// Counts that nobody added to for so long are forgotten: each end has something in work, most of it innocent.
    private static let rememberedMilliseconds: Int64 = 7 * 24 * 3_600_000

    /// - Throws: a folder where nothing can be written.
    init(directory: String, maxCrashes: Int, group: String, names: SourceNames, client: RedisClient, log: Log)
        throws(SettingFault)
    {
        do throws(SourceFault) {
            mark = try WorkMark(directory: directory, group: group)
        } catch {
            throw SettingFault(
                key: "deadLetters.stateDirectory", problem: "\(error.source) \(error.problem)", remedy: error.remedy)
        }
        (self.client, self.group, self.names) = (client, group, names)
        (self.maxCrashes, self.log) = (maxCrashes, log)
        key = "\(group):crashes"
    }

    /// A number to be asked about with `isAnswered`: then all that was counted up to now is known.
    func ask() -> Int {
        asked += 1
        look()
        return asked
    }

    func isAnswered(_ number: Int) -> Bool { answered >= number }

    /// By source; empty for none.
    func poison(of partition: Int32) -> [Set<Int64>] {
        let found = names.topics.indices.map { poison[names.log($0, partition)] ?? [] }
        return found.allSatisfy(\.isEmpty) ? [] : found
    }

    /// A position has passed: what lies before it ends nobody any more.
    func forget(_ partition: Int32, source: Int, through offset: Int64) {
        guard !poison.isEmpty else { return }
        let stream = names.log(source, partition)
        for passed in poison[stream] ?? [] where passed <= offset {
            poison[stream]?.remove(passed)
            var command = RedisCommand("HDEL", key)
            command.append(field(stream, passed))
            client.send(command, key: key) { _ in }
        }
    }

    private func report() {
        guard !hasReported, let left = mark.left else { return }
        hasReported = true
        guard names.topics.indices.contains(left.source) else { return }
        let stream = names.log(left.source, left.partition)
        log.warning(
            "a process ended with a record in work", .field("stream", stream),
            .field("entry", names.place(left.offset)), .field("file", mark.path),
            .hint(
                "killed, it is nothing; if it crashed, the record may be why: after deadLetters.maxCrashes it is a dead letter"
            ))
        var count = RedisCommand("HINCRBY", key)
        count.append(field(stream, left.offset))
        count.append(1)
        client.send(count, key: key) { [weak self] outcome in
            switch outcome {
            case .reply, .refused: break
            case .lost, .unsent: self?.hasReported = false
            }
        }
        var expiry = RedisCommand("PEXPIRE", key)
        expiry.append(Self.rememberedMilliseconds)
        client.send(expiry, key: key) { _ in }
    }

    private func look() {
        guard !isAsking else { return }
        isAsking = true
        // First, so that what comes back counts it.
        report()
        let number = asked
        client.send(RedisCommand("HGETALL", key), key: key) { [weak self] outcome in
            guard let self else { return }
            isAsking = false
            switch outcome {
            case .reply(let reply):
                take(reply)
                answered = number
            case .refused(let refusal):
                log.error("crashes of other processes are not known", .hint("\(refusal)"))
                answered = number
            // Without Redis nothing is read anyway.
            case .lost, .unsent: break
            }
            if answered < asked { look() }
        }
    }

    private func take(_ reply: RedisReply) {
        poison = [:]
        var parts = reply.makeIterator()
        while let field = parts.next()?.text, let crashes = parts.next()?.integer {
            guard crashes >= maxCrashes, let slash = field.lastIndex(of: "/"),
                let offset = names.offset(String(field[field.index(after: slash)...]))
            else { continue }
            poison[String(field[..<slash]), default: []].insert(offset)
        }
    }

    private func field(_ stream: String, _ offset: Int64) -> String { "\(stream)/\(names.place(offset))" }
}
