import Flow
import RedisClient
import Telemetry

/// A group's registry of tokens in Redis: each request is one script over one key, done whole or not at all.
///
/// Belongs to the thread of its client's loop. Nothing that it says or logs holds a token.
public final class RedisTokenRegistry: TokenRegistry {
    private let client: RedisClient
    private let keys: RegistryKeys
    private let place: String
    private let retention: RegistryRetention
    private var command = RedisCommand("EVAL")
    private var standing: (fault: StoreFault, asked: String)?

    /// - Parameters:
    ///   - group: the name under which the store keeps all of the group.
    ///   - place: where Redis is, for people: a host and port, without user and password.
    public init(client: RedisClient, place: String, group: String, retention: RegistryRetention = RegistryRetention()) {
        (self.client, self.place, self.retention) = (client, place, retention)
        keys = RegistryKeys(group: group)
    }

    public var fault: StoreFault? { standing?.fault }

    public func perform(_ request: RegistryRequest, _ completion: @escaping (RegistryAnswer) -> Void) {
        func run(_ key: [UInt8], _ asked: String, _ answer: @escaping (RedisReply) -> RegistryAnswer?) {
            send(key, asked, answer) { completion($0 ?? .failed($1)) }
        }
        switch request {
        case .begin(let identifier, let place):
            let key = keys.activity(identifier)
            begin(.begin, key)
            command.append(place.key)
            command.append(Int64(place.partition))
            command.append(retention.silenceMilliseconds)
            run(key, "the beginning of an activity") { reply in
                reply.kind == .array ? .begun(reply.keptToken) : nil
            }
        case .end(let identifier, let keptMilliseconds):
            let key = keys.activity(identifier)
            begin(.end, key)
            command.append(max(1, keptMilliseconds))
            run(key, "the end of an activity") { _ in .done }
        case .startToken(let user, let app):
            let key = keys.user(user, app: app)
            command.reset("HMGET")
            command.append(key)
            command.append("token")
            command.append("at")
            run(key, "the start token of a user") { reply in
                reply.kind == .array ? .startToken(reply.startToken) : nil
            }
        case .takeStart(let token, let app, let mark, let budget):
            let key = keys.starts(token, app: app)
            begin(.takeStart, key)
            command.append(Array("\(mark.life):".utf8) + mark.activity)
            command.append(Int64(budget.starts))
            command.append(budget.windowMilliseconds)
            run(key, "the budget of a start token") { reply in
                reply.integer.map { $0 == 0 ? .startGranted : .startDeferred(untilMilliseconds: $0) }
            }
        case .forgetStartToken(let user, let app, let token, let gone):
            let key = keys.user(user, app: app)
            writeTakeBackStart(key, token, gone)
            run(key, "the end of a start token") { _ in .done }
        }
    }

    public func perform(_ request: RegistrationRequest, _ completion: @escaping (RegistrationAnswer) -> Void) {
        func run(_ key: [UInt8], _ asked: String, isQuestion: Bool = false) {
            let answer: (RedisReply) -> RegistrationAnswer? = { $0.registrationAnswer(isQuestion: isQuestion) }
            send(key, asked, answer) { completion($0 ?? .failed($1)) }
        }
        switch request {
        case .keep(let identifier, let token):
            let key = keys.activity(identifier)
            begin(.keep, key)
            command.append(token.token.hex)
            command.append(token.registeredAtMilliseconds)
            command.append(token.frequentUpdates.map { $0 ? "1" : "0" } ?? "")
            command.append(retention.unbegunMilliseconds)
            run(key, "the registration of an update token")
        case .takeBack(let identifier, let token, let until):
            let key = keys.activity(identifier)
            begin(.takeBack, key)
            command.append(token?.hex ?? "")
            command.append(until)
            command.append(retention.unbegunMilliseconds)
            run(key, "the taking back of an update token")
        case .place(let identifier):
            let key = keys.activity(identifier)
            command.reset("HMGET")
            command.append(key)
            command.append("key")
            command.append("partition")
            run(key, "the place of an activity", isQuestion: true)
        case .keepStart(let user, let app, let attributesType, let token):
            let key = keys.user(user, app: app)
            begin(.keepStart, key)
            command.append(token.token.hex)
            command.append(token.registeredAtMilliseconds)
            command.append(attributesType)
            command.append(retention.silenceMilliseconds)
            run(key, "the registration of a start token")
        case .takeBackStart(let user, let app, let token, let until):
            let key = keys.user(user, app: app)
            writeTakeBackStart(key, token, until)
            run(key, "the taking back of a start token")
        }
    }

    // MARK: Sending

    private func begin(_ script: Script, _ key: [UInt8]) {
        command.reset("EVAL")
        command.append(script.text)
        command.append(1)
        command.append(key)
    }

    private func writeTakeBackStart(_ key: [UInt8], _ token: PushToken?, _ until: Int64) {
        begin(.takeBackStart, key)
        command.append(token?.hex ?? "")
        command.append(until)
        command.append(retention.silenceMilliseconds)
    }

    /// Sends what `command` holds.
    private func send<Answer>(
        _ key: [UInt8], _ asked: String, _ answer: @escaping (RedisReply) -> Answer?,
        _ completion: @escaping (Answer?, StoreFailure) -> Void
    ) {
        client.send(command, slot: HashSlot(of: key)) { [self] outcome in
            switch client.reply(outcome, place: place, asked: asked) {
            case .success(let reply):
                if let answer = answer(reply) {
                    if standing?.asked == asked || standing?.fault.failure == .unavailable { standing = nil }
                    return completion(answer, .unavailable)
                }
                fail(StoreFault(strangeAnswerTo: asked, place: place), asked)
                completion(nil, .misconfigured)
            case .failure(let fault):
                fail(fault, asked)
                completion(nil, fault.failure)
            }
        }
    }

    private func fail(_ fault: StoreFault, _ asked: String) { standing = (fault, asked) }
}

extension RedisReply {
    /// Token, time, flag.
    fileprivate var keptToken: KeptToken? {
        guard let start = startToken else { return nil }
        return KeptToken(
            token: start.token, registeredAtMilliseconds: start.registeredAtMilliseconds,
            frequentUpdates: self[2]?.integer.map { $0 == 1 })
    }

    /// Token, time. What is no token was written by somebody else.
    fileprivate var startToken: RegisteredStartToken? {
        guard let token = self[0]?.text.flatMap({ PushToken(hex: $0) }), let at = self[1]?.integer else { return nil }
        return RegisteredStartToken(token: token, registeredAtMilliseconds: at)
    }

    /// - Parameter isQuestion: nil stands for what is not known.
    fileprivate func registrationAnswer(isQuestion: Bool) -> RegistrationAnswer? {
        switch kind {
        case .integer: return integer == 0 ? .superseded : .kept
        case .array:
            guard let key = self[0]?.bytes, let partition = self[1]?.integer else {
                return isQuestion ? .unplaced : nil
            }
            return .placed(ActivityPlace(key: [UInt8](key), partition: Int32(clamping: partition)))
        default: return nil
        }
    }
}
