import HTTP2
import Instruments
import Sockets

/// Opens what is missing, and retires what is to be replaced.
extension ConnectionPool {
    /// Opens the next connection that is missing, unless one is on its way or the time has not come.
    func openNext() {
        guard !isClosed, staging.state == .idle,
            connections.count(where: { $0.stage != .retiring }) < core.options.connectionsPerPool
        else { return }
        staging.begin()
        // Names are asked for afresh each time: APNs moves its load by DNS. The core closes its resolver before it lets its pools go. (Were the
        // pool held weakly, each reference to it would be counted the slow way from then on.)
        core.resolve(host: settings.host, port: settings.port) { [unowned self] result in
            guard !isClosed else { return }
            switch result {
            case .success(let addresses): connect(to: addresses)
            case .failure(let fault):
                core.instruments.connections.add(1, .failed)
                log.warning("the provider's name cannot be resolved", .error(fault), .field("app", settings.app))
                staging.failed(atMilliseconds: core.loop.nowMilliseconds, random: core.random.next())
                schedule()
            }
        }
    }

    private func connect(to addresses: [SocketAddress]) {
        var options = ClientConnection.Options()
        options.connectDeadlineMilliseconds = core.options.connectTimeoutMilliseconds
        options.pingAfterSilenceMilliseconds = core.options.pingAfterMilliseconds
        options.pingTimeoutMilliseconds = core.options.pingTimeoutMilliseconds
        options.maximumStreams = core.options.maxStreamsPerConnection
        options.lastUsableStreamID = core.options.lastUsableStreamID
        connections.append(
            PooledConnection(
                ClientConnection(
                    loop: core.loop, host: settings.host, addresses: addresses, tls: settings.tls, options: options,
                    handler: self)))
    }

    /// After something may have changed what is missing: opens it now, or has the timer do so.
    func schedule() {
        if case .pausing(let untilMilliseconds) = staging.state, !isClosed {
            pause?.schedule(atMilliseconds: untilMilliseconds)
        } else {
            pause?.cancel()
            openNext()
        }
    }

    /// Takes a connection out of use; its open requests still end. A good one's replacement opens at once, and first.
    func retire(_ member: PooledConnection, replacesAtOnce: Bool = true) {
        let stage = member.stage
        guard stage != .retiring else { return }
        member.stage = .retiring
        core.turnHasNews()
        core.instruments.connections.add(1, .retired)
        member.connection.drain()
        switch stage {
        case .opening:
            staging.failed(atMilliseconds: core.loop.nowMilliseconds, random: core.random.next())
        case .inUse where replacesAtOnce && hasDoneGood(member):
            staging.replacesGoodOne()
        case .inUse, .retiring:
            staging.lost(atMilliseconds: core.loop.nowMilliseconds, random: core.random.next())
        }
        schedule()
    }

    /// One that only stood counts as good as well, if it stood longer than any pause: a quiet night must not end in the longest one.
    func hasDoneGood(_ member: PooledConnection) -> Bool {
        let stoodMilliseconds = core.loop.nowMilliseconds - member.readyAtMilliseconds
        if !member.isProven, stoodMilliseconds >= core.options.longestReconnectDelayMilliseconds { prove(member) }
        return member.isProven
    }

    func prove(_ member: PooledConnection) {
        guard !member.isProven else { return }
        member.isProven = true
        staging.didGood()
    }
}
