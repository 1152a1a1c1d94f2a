import HTTP2

@testable import PushSimulator

extension SimulatorServer {
    /// Requests that wait for their latency.
    var heldRequests: Int { shared.heldCount.load(ordering: .relaxed) }
    var openConnections: Int { shared.connectionCount.load(ordering: .relaxed) }
    var hasObeyed: Bool { shared.hasObeyed }

    func register(_ key: ProviderKey) { withCore { $0.face.register(key) } }

    /// The update token of an activity that has begun.
    func register(token: String) {
        register([
            FleetRegistration(
                kind: .began, token: token, activityIdentifier: "a", attributesType: "DeliveryAttributes",
                atMilliseconds: 0)
        ])
    }
}
