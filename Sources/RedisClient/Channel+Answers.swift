import Sockets

/// An answer is told, or followed to where it points.
extension Channel {
    func answered(_ node: Node, _ request: Request, _ reply: RedisReply) {
        guard reply.kind == .error else {
            surroundings.instruments.commands.add(1, .replied)
            return request.completion(.reply(reply))
        }
        let refusal = RedisRefusal(reply)
        surroundings.instruments.commands.add(1, .refused)
        request.completion(.refused(refusal))
    }
}
