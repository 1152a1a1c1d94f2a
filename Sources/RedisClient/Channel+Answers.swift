import Sockets

/// An answer is told, or followed to where it points.
extension Channel {
    /// A slot that moves on and on is told about instead.
    private static let mostDetours = 16
    private static let firstPauseMilliseconds: Int64 = 10
    private static let longestPauseMilliseconds: Int64 = 200

    func answered(_ node: Node, _ request: Request, _ reply: RedisReply) {
        guard reply.kind == .error else {
            ended(request)
            return tell(request, .reply(reply))
        }
        let refusal = RedisRefusal(reply)
        let isFollowed = directory.isCluster && follow(refusal, node, request)
        ended(request)
        if isFollowed { return }
        tell(request, .refused(refusal))
        guard directory.expectsMaster, refusal.code == "READONLY" || refusal.code == "MASTERDOWN" else { return }
        // It was the master and is no more.
        node.retire(
            RedisFault(
                .notMaster, "Redis at \(node.address) is not the master any more (\(refusal))",
                remedy: "the Sentinels are asked again"))
        directory.doubts(node.address)
    }

    private func tell(_ request: Request, _ outcome: RedisOutcome) {
        count(outcome)
        request.completion(outcome)
    }

    /// True where the command goes on.
    private func follow(_ refusal: RedisRefusal, _ node: Node, _ request: Request) -> Bool {
        guard let detour = Detour(refusal, from: node.address), request.detours < Self.mostDetours else { return false }
        var request = request
        request.detours += 1
        request.asks = nil
        let now = EventLoop.currentMilliseconds()
        switch detour {
        case .moved(let address):
            surroundings.instruments.detours.add(1, .moved)
            if let slot = request.slot { directory.moved(slot, to: address) } else { request.asks = address }
        case .ask(let address):
            surroundings.instruments.detours.add(1, .ask)
            directory.welcome(address)
            request.asks = address
        case .tryAgain:
            let pause = min(Self.longestPauseMilliseconds, Self.firstPauseMilliseconds << Int64(request.detours - 1))
            guard now + pause < request.waitsUntilMilliseconds else { return false }
            surroundings.instruments.detours.add(1, .tryAgain)
            directory.doubts(node.address)
            request.notBeforeMilliseconds = now + pause
        }
        wait(request)
        return true
    }
}
