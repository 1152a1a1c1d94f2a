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

    // MARK: Phones

    /// - Parameter device: a phone's name; where tokens are adopted, each is the name of its own phone.
    public func goOffline(device: String) {
        shared.core.withLock { $0.phones.goOffline(device: device) }
    }

    public func goOnline(device: String) {
        let instant = shared.clock.instant()
        shared.core.withLock { $0.goOnline(device, at: instant) }
    }

    /// A phone with a push-to-start token, which its app reports.
    /// - Returns: the token.
    @discardableResult
    public func addPhone(_ name: String, startToken: String? = nil, attributesType: String? = nil) -> String {
        let instant = shared.clock.instant()
        return shared.core.withLock {
            $0.addPhone(name, startToken: startToken, attributesType: attributesType, at: instant)
        }
    }

    /// An activity that the app begins by itself.
    /// - Returns: its update token, which the app reports.
    @discardableResult
    public func begin(
        _ activityIdentifier: String, on phone: String, updateToken: String? = nil, attributesType: String? = nil
    ) -> String {
        let instant = shared.clock.instant()
        return shared.core.withLock {
            $0.begin(
                activityIdentifier, on: phone, updateToken: updateToken, attributesType: attributesType, at: instant)
        }
    }

    /// Each activity of that id, or with that token, gets another token.
    /// - Returns: the new ones.
    @discardableResult
    public func rotateToken(of activity: String) -> [String] {
        let instant = shared.clock.instant()
        return shared.core.withLock { core in
            core.phones.updateTokens(of: activity).compactMap { core.rotate($0, at: instant) }
        }
    }

    /// The user swipes the activity away.
    /// - Returns: of how many phones.
    @discardableResult
    public func dismiss(_ activity: String) -> Int {
        let instant = shared.clock.instant()
        return shared.core.withLock { core in
            core.phones.updateTokens(of: activity).count { core.dismiss($0, at: instant) }
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
