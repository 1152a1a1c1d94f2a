import Sockets

/// What is said first on a connection, in one write; an answer that is not to be lived with ends it.
enum GreetingStep {
    case authenticate
    case name
    case select
    /// A server that loads its data set, or a replica without its master, says so.
    case ping
    case role

    var command: String {
        switch self {
        case .authenticate: "AUTH"
        case .name: "CLIENT SETNAME"
        case .select: "SELECT"
        case .ping: "PING"
        case .role: "ROLE"
        }
    }
}

extension Link {
    func greet() {
        phase = .greeting
        var steps: [GreetingStep] = []
        if let password = greeting.password {
            var command = RedisCommand("AUTH")
            if let username = greeting.username { command.append(username) }
            command.append(password.bytes)
            say(command)
            steps.append(.authenticate)
        }
        if let name = greeting.clientName {
            say(RedisCommand("CLIENT", "SETNAME", name))
            steps.append(.name)
        }
        if greeting.database != 0 {
            say(RedisCommand("SELECT", "\(greeting.database)"))
            steps.append(.select)
        }
        say(RedisCommand("PING"))
        steps.append(.ping)
        if greeting.expectsMaster {
            say(RedisCommand("ROLE"))
            steps.append(.role)
        }
        greetingSteps = steps[...]
        receive()
    }

    func greetingAnswered(_ reply: RedisReply) {
        guard let step = greetingSteps.popFirst() else {
            return end(.unasked(address))
        }
        if reply.kind == .error {
            let refusal = RedisRefusal(reply)
            // A user that may do its work need not be allowed these.
            let isDispensable = refusal.code == "NOPERM" && step != .select
            let isUnknown = step == .name && refusal.code == "ERR" && !refusal.isForWantOfRoom
            guard isDispensable || isUnknown else {
                return end(.refusal(refusal, to: step.command, at: address.description, user: greeting.username))
            }
        } else if step == .role, reply[0]?.equals("master") != true {
            return end(
                RedisFault(
                    .notMaster, "Redis at \(address) is a \(reply[0]?.text ?? "stranger") and not the master",
                    remedy: "the Sentinels are asked again"))
        }
        guard greetingSteps.isEmpty else { return }
        connectTimer.cancel()
        phase = .ready
        readyMilliseconds = loop.nowMilliseconds
        owner?.linkReady(self)
    }
}

extension RedisFault {
    static func unasked(_ address: RedisAddress) -> RedisFault {
        RedisFault(
            .protocolError, "Redis at \(address) sent an answer to nothing",
            remedy: "check that it is Redis that listens there; connecting again")
    }
}
