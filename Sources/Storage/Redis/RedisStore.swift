import Flow
import RedisClient

/// A group's store in Redis: each request is one script, and so one round trip, done whole or not at all.
///
/// Belongs to the thread of its client's loop. Requests go out in the order in which they are made, without waiting for one another.
public final class RedisStore: Store {
    private var faults = StandingFaults()
    /// Saves that could not move the consumer group, which mirrors positions for outside observers. Nothing of Waypulse's own needs it.
    public internal(set) var unmirroredSaves = 0
    /// Why the last of them could not.
    public internal(set) var unmirroredReason: String?

    let client: RedisClient
    let group: GroupSettings
    /// Where Redis is, for people.
    let place: String
    var call: ScriptCall

    /// - Parameter place: where Redis is, for people: a host and port, without user and password.
    public init(client: RedisClient, place: String, group: GroupSettings) {
        self.client = client
        self.place = place
        self.group = group
        call = ScriptCall(group: group)
    }

    public func perform(_ request: StoreRequest, _ completion: @escaping (StoreAnswer) -> Void) {
        let slot = call.write(request)
        client.send(call.command, slot: slot) { [self] outcome in
            switch answer(to: request, outcome) {
            case .success(let answer):
                faults.succeeded(request, answer)
                completion(answer)
            case .failure(let fault):
                faults.failed(request, fault)
                completion(.failed(fault.failure))
            }
        }
    }

    public var fault: StoreFault? { faults.first }

    /// The reply, where there is one.
    func reply(_ outcome: RedisOutcome, asked: @autoclosure () -> String) -> Result<RedisReply, StoreFault> {
        client.reply(outcome, place: place, asked: asked())
    }
}
