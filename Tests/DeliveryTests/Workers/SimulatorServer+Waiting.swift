import HTTP2

@testable import PushSimulator

extension SimulatorServer {
    /// Requests that wait for their latency.
    var heldRequests: Int { shared.heldCount.load(ordering: .relaxed) }
    var openConnections: Int { shared.connectionCount.load(ordering: .relaxed) }
    var hasObeyed: Bool { shared.hasObeyed }
}
