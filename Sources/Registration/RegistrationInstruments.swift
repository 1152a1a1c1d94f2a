import HTTP1
import Instruments
import Synchronization

/// What is counted of the API.
struct RegistrationInstruments: Sendable {
    enum StatusClass: String, MetricLabel {
        static let labelName = "status"

        case informational = "1xx"
        case success = "2xx"
        case redirection = "3xx"
        case clientError = "4xx"
        case serverError = "5xx"

        init(_ status: Int) {
            self =
                switch status {
                case ..<200: .informational
                case ..<300: .success
                case ..<400: .redirection
                case ..<500: .clientError
                default: .serverError
                }
        }
    }

    /// Why a request was not done.
    enum Rejection: String, MetricLabel {
        static let labelName = "reason"

        case malformed
        case noKey = "no_key"
        case unknownKey = "unknown_key"
        case scope
        case path
        case method
        case accept
        case tooLarge = "too_large"
        case mediaType = "media_type"
        case field
        case rate
        case unavailable
        case overloaded

        init?(_ kind: Problem.Kind) {
            switch kind {
            case .malformedRequest, .unknownTransferCoding: self = .malformed
            case .noKey: self = .noKey
            case .unknownKey: self = .unknownKey
            case .missingScope: self = .scope
            case .unknownPath: self = .path
            case .methodNotAllowed: self = .method
            case .notAcceptable: self = .accept
            case .tooLarge: self = .tooLarge
            case .unsupportedMediaType: self = .mediaType
            case .invalidField: self = .field
            case .tooManyRequests: self = .rate
            case .unavailable: self = .unavailable
            case .overloaded, .tooManyStreams: self = .overloaded
            case .unknownActivity, .otherMember: return nil
            }
        }
    }

    let requests: Counter<LabelPair<Route, StatusClass>>
    let rejections: Counter<Rejection>
    /// What reached the service behind the API.
    let questions: Counter<Route>
    /// A writer is one thread's; answers come from several.
    private let durations: Durations

    private final class Durations: Sendable {
        let writer: Mutex<HistogramWriter<Route>>
        init(_ writer: HistogramWriter<Route>) { self.writer = Mutex(writer) }
    }

    init(_ registry: Registry) {
        requests = registry.counter(
            "waypulse_api_requests_total", by: LabelPair<Route, StatusClass>.self,
            help: "Requests of the API by what they are about and how they were answered.")
        rejections = registry.counter(
            "waypulse_api_rejected_total", by: Rejection.self,
            help: "Requests of the API that were not done, by reason.")
        questions = registry.counter(
            "waypulse_api_questions_total", by: Route.self,
            help: "What reached the service behind the API: requests that were found good, and what streams ask for.")
        let histogram = registry.histogram(
            "waypulse_api_request_seconds", by: Route.self, unit: .microseconds,
            bounds: [1_000, 5_000, 25_000, 100_000, 500_000, 2_500_000, 10_000_000],
            help: "From the head of a request to its answer; of a stream, to its beginning.")
        durations = Durations(histogram.writer())
    }

    func count(_ route: Route, status: Int, microseconds: Int64) {
        requests.add(1, LabelPair(route, StatusClass(status)))
        durations.writer.withLock { $0.record(microseconds, route) }
    }

    /// What others keep, read when somebody asks.
    static func observe(_ registry: Registry, _ listener: HTTPListener, _ watch: StateWatch, _ keys: KeyRing) {
        let counts = listener.counts
        registry.observed("waypulse_api_connections", help: "Connections to the API that are open.") {
            Int64(counts.open)
        }
        registry.observed("waypulse_api_streams", help: "Streams of states that are open.") { Int64(watch.open) }
        registry.observed(
            "waypulse_api_slow_clients_total",
            help: "Clients let go: a request that trickled in, or an answer that was not read."
        ) {
            Int64(counts.dropped(.slow) + counts.dropped(.unread))
        }
        registry.observed(
            "waypulse_api_displaced_clients_total", help: "Clients let go for newcomers, at api.maxConnections."
        ) {
            Int64(counts.dropped(.displaced))
        }
        registry.observed("waypulse_api_keys", help: "Keys in force.") { Int64(keys.count) }
        registry.observed(
            "waypulse_api_keys_unusable",
            help: "1 while the file of keys cannot be used and those read before are in force."
        ) { keys.isFileUnusable ? 1 : 0 }
    }
}
