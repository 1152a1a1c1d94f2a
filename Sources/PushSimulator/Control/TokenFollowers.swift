import HTTP1
import Synchronization

/// Readers of `GET /tokens` as Server-Sent Events: each token reaches them as its phone tells it.
final class TokenFollowers: Sendable {
    private struct Follower {
        let stream: HTTPStream
        /// Number of the next token that it has not got.
        var next: Int
    }

    /// Connections of the control port are few, and each takes one for as long as it likes.
    static let maxFollowers = 16
    /// A comment so often shows which readers are gone.
    static let heartbeatMilliseconds: Int64 = 15_000

    // The core's lock is taken inside this one, never the other way round.
    private let followers = Mutex<[Follower]>([])
    private let heartbeat = Mutex<Int64>(0)

    var count: Int { followers.withLock(\.count) }

    /// Begins with number `first`, then goes on as they come.
    /// - Returns: false where there are as many as may be.
    func follow(_ responder: HTTPResponder, from first: Int, shared: SimulatorShared) -> Bool {
        followers.withLock { followers in
            followers.removeAll { !$0.stream.isOpen }
            guard followers.count < TokenFollowers.maxFollowers else { return false }
            let (events, next) = TokenFollowers.events(from: first, shared)
            let head = HTTPResponse(
                contentType: "text/event-stream", headers: [HTTPField("cache-control", "no-store")], body: events)
            let stream = responder.stream(head) { [weak self] in
                self?.followers.withLock { $0.removeAll { !$0.stream.isOpen } }
            }
            if let stream { followers.append(Follower(stream: stream, next: next)) }
            return true
        }
    }

    /// What is new goes to each. Called on the simulator's thread.
    func publish(from shared: SimulatorShared, hasNews: Bool, nowMilliseconds: Int64) {
        let beats = heartbeat.withLock { newest in
            guard nowMilliseconds - newest >= TokenFollowers.heartbeatMilliseconds else { return false }
            newest = nowMilliseconds
            return true
        }
        guard hasNews || beats else { return }
        followers.withLock { followers in
            for index in followers.indices {
                let (events, next) = TokenFollowers.events(from: followers[index].next, shared)
                followers[index].next = next
                if !events.isEmpty { followers[index].stream.write(events) }
                if beats { followers[index].stream.write(Array(":\n\n".utf8)) }
            }
            followers.removeAll { !$0.stream.isOpen }
        }
    }

    private static func events(from first: Int, _ shared: SimulatorShared) -> (bytes: [UInt8], next: Int) {
        let (reports, number) = shared.core.withLock { ($0.reports, $0.firstReport) }
        var bytes: [UInt8] = []
        for (index, report) in reports.enumerated().dropFirst(max(0, first - number)) {
            bytes += Array("id: \(number + index)\nevent: token\ndata: ".utf8)
            bytes += JSONDocument.bytes(of: .object(report.json(number: number + index)))
            bytes += Array("\n\n".utf8)
        }
        return (bytes, max(first, number + reports.count))
    }
}
