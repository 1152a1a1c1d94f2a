import Instruments

/// What workers count. One set serves all workers of a process.
public struct DeliveryInstruments: Sendable {
    public enum Ending: String, MetricLabel {
        case accepted, refused, unknown, unsent
        case notProcessed = "not_processed"
        public static var labelName: String { "ending" }
    }

    public enum ConnectionEvent: String, MetricLabel {
        case opened, failed, lost, retired
        case goAway = "goaway"
        public static var labelName: String { "event" }
    }

    public enum KeyChange: String, MetricLabel {
        case adopted, unusable
        public static var labelName: String { "result" }
    }

    public enum StatusClass: String, MetricLabel {
        case success = "2xx"
        case clientError = "4xx"
        case serverError = "5xx"
        case other
        public static var labelName: String { "status" }

        init(_ status: Int) {
            switch status {
            case 200...299: self = .success
            case 400...499: self = .clientError
            case 500...599: self = .serverError
            default: self = .other
            }
        }
    }

    let requests: Counter<Ending>
    let answers: Counter<StatusClass>
    let connections: Counter<ConnectionEvent>
    let credentialRenewals: Counter<NoLabel>
    let keyChanges: Counter<KeyChange>
    let requestDuration: Histogram<NoLabel>
    let clockAhead: Gauge<NoLabel>
    let openConnections: Gauge<NoLabel>
    let streams: Gauge<NoLabel>

    public init(registry: Registry) {
        requests = registry.counter(
            "waypulse_requests_total", by: Ending.self, help: "Requests to the provider by how they ended.")
        answers = registry.counter(
            "waypulse_answers_total", by: StatusClass.self, help: "Answers of the provider by class of status.")
        connections = registry.counter(
            "waypulse_connection_events_total", by: ConnectionEvent.self,
            help: "What happened to connections to the provider.")
        credentialRenewals = registry.counter(
            "waypulse_credential_renewals_total", help: "Provider tokens renewed because one was called expired.")
        keyChanges = registry.counter(
            "waypulse_signing_key_changes_total", by: KeyChange.self,
            help: "Signing keys that changed on disk: taken into use, or of no use, so that the one before stays.")
        requestDuration = registry.histogram(
            "waypulse_request_duration_seconds", unit: .milliseconds,
            bounds: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 8_000],
            help: "From handing a request to a worker until its answer.")
        clockAhead = registry.gauge(
            "waypulse_provider_clock_ahead_seconds", unit: .seconds,
            help: "By how much this machine's clock is ahead of the provider's, where an answer told its date.")
        openConnections = registry.gauge(
            "waypulse_provider_connections", help: "Connections to the provider that take requests.")
        streams = registry.gauge(
            "waypulse_provider_streams",
            help: "Requests that the connections can carry at the same time now, those under way included.")
    }
}
