import HTTP1
import Instruments

/// The process's own HTTP endpoint: `/metrics`, `/healthz` (it lives) and `/readyz` (it should be given work).
public final class OperationsListener: Sendable {
    private let listener: HTTPListener
    public var port: UInt16 { listener.port }

    /// - Parameter port: 0 takes a free one.
    public init(host: String, port: UInt16, registry: Registry, readiness: Readiness) throws(ListenFault) {
        listener = try HTTPListener(host: host, port: port) { request in
            guard request.method == "GET" || request.method == "HEAD" else {
                return .text("only GET is answered here\n", status: 405)
            }
            switch request.path {
            case "/metrics":
                return HTTPResponse(
                    contentType: "text/plain; version=0.0.4; charset=utf-8", body: registry.snapshot().prometheusText())
            case "/healthz":
                return .text("alive\n")
            case "/readyz":
                switch readiness.current {
                case .ready: return .text("ready\n")
                case .starting: return .text("starting\n", status: 503)
                case .hindered(let why): return .text("not ready: \(why)\n", status: 503)
                case .stopping: return .text("stopping\n", status: 503)
                }
            default:
                return .text("waypulse answers /metrics, /healthz and /readyz\n", status: 404)
            }
        }
    }

    public func stop() {
        listener.stop()
    }
}
