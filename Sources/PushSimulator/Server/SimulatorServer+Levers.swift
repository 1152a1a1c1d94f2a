import Telemetry

extension SimulatorServer {
    /// A copy of what stands there now.
    public var journal: Journal { shared.core.withLock { $0.journal } }
    /// The phones as they are now.
    public var phones: PhoneModel { shared.core.withLock { $0.phones } }
    public var faults: FaultSettings { shared.core.withLock { $0.faults } }
    /// Update tokens that phones have told their app so far.
    public var tokenReports: [PhoneModel.TokenReport] { shared.core.withLock { $0.reports } }

    /// Tokens that take effect when the phones' clock reaches each one's time.
    public func register(_ registrations: [FleetRegistration]) {
        shared.core.withLock { $0.add(registrations) }
    }

    public func change(_ change: (inout FaultSettings) -> Void) {
        shared.core.withLock { change(&$0.faults) }
        shared.order(.faultsChanged)
    }

    /// Changes what only tests change: keys, tokens, phones.
    func withCore<Result: Sendable>(_ body: (inout SimulatorCore) -> Result) -> Result {
        shared.core.withLock { body(&$0) }
    }

    /// GOAWAY `Shutdown` on every connection.
    public func drain(_ drain: Drain = Drain()) {
        shared.order(.drain(drain))
    }

    /// TCP RST on every connection.
    public func resetConnections() {
        shared.order(.resetConnections)
    }

    /// Every provider token seen so far counts as expired from now on, and a connection that shows one stays refused.
    public func expireProviderTokens() {
        shared.core.withLock { $0.face.expireProviderTokens() }
    }

    public func goOffline(device: String) {
        shared.core.withLock { $0.phones.goOffline(device: device) }
    }

    public func goOnline(device: String) {
        let instant = shared.clock.instant()
        shared.core.withLock { core in
            for outcome in core.phones.goOnline(device: device, atMilliseconds: instant.phoneMilliseconds) {
                core.take(outcome, at: instant)
            }
        }
    }
}

/// How a connection is sent away.
public struct Drain: Sendable, Equatable {
    /// How many of the newest streams are told that they were not processed. Streams that were processed already never are.
    public var unprocessedStreams: Int32 = 0
    /// A first GOAWAY with the highest stream, then the second, lower one.
    public var isTwice = false
    /// The streams that it promises to look after are never answered.
    public var abandonsOpenStreams = false

    public init(unprocessedStreams: Int32 = 0, isTwice: Bool = false, abandonsOpenStreams: Bool = false) {
        self.unprocessedStreams = unprocessedStreams
        self.isTwice = isTwice
        self.abandonsOpenStreams = abandonsOpenStreams
    }
}
