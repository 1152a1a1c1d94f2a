import Glibc
import HTTP1
import Instruments
import Synchronization

/// Decides who may ask what, from the head of a request alone: whoever floods without a key costs no more than this.
final class RequestHandler: Sendable {
    let settings: RegistrationSettings
    let desk: any ActivityDesk
    let keys: KeyRing
    let watch: StateWatch
    let instruments: RegistrationInstruments
    let log: Log
    let now: @Sendable () -> Int64
    private let rates: Mutex<RequestRates>
    private let knownGeneration: Mutex<Int>

    init(
        _ settings: RegistrationSettings, desk: any ActivityDesk, keys: KeyRing, watch: StateWatch,
        instruments: RegistrationInstruments, log: Log, now: @escaping @Sendable () -> Int64
    ) {
        self.settings = settings
        self.desk = desk
        self.keys = keys
        self.watch = watch
        self.instruments = instruments
        self.log = log
        self.now = now
        rates = Mutex(
            RequestRates(
                known: .init(perSecond: settings.requestsPerSecond, burst: settings.burst),
                strangers: .init(
                    perSecond: settings.strangersPerSecond, burst: max(1, settings.strangersPerSecond * 4)),
                nowMilliseconds: now()))
        knownGeneration = Mutex(keys.generation)
    }

    /// A request from its head to its answer.
    struct Call: Sendable {
        var route: Route
        let instance: String
        let beganMicroseconds: Int64
        var key: APIKey?
    }

    func tick() {
        keys.reload()
        let generation = keys.generation
        let isNew = knownGeneration.withLock { known in
            defer { known = generation }
            return known != generation
        }
        if isNew { rates.withLock { $0.forgetKeys() } }
        watch.tick(nowMilliseconds: now())
    }

    func admit(_ request: HTTPRequest) -> HTTPAdmission {
        let endpoint = Endpoint(request.segments)
        var call = Call(
            route: endpoint?.route ?? .other, instance: RequestHandler.instance(request),
            beganMicroseconds: RequestHandler.monotonicMicroseconds)
        do throws(Problem) {
            call.key = try identify(request)
            guard let endpoint else { throw RequestHandler.noSuchPath(request) }
            if request.method == "OPTIONS" { return .refuse(finished(call, RequestHandler.options(endpoint))) }
            guard endpoint.methods.contains(request.method) else {
                throw Problem(
                    .methodNotAllowed, headers: [HTTPField("Allow", endpoint.allow)],
                    "This path takes \(endpoint.allow), not the method that was sent.")
            }
            try checkScope(endpoint, call.key)
            let answersInJSON = try checkForm(request, endpoint)
            if case .state = endpoint.subject, !answersInJSON { call.route = .stateStream }
        } catch {
            return .refuse(finished(call, error.response(instance: call.instance), error.kind))
        }
        guard let endpoint else { return .refuse(.notFound) }
        let settled = call
        return .accept { [self] request, responder in handle(request, endpoint, settled, responder) }
    }

    // MARK: Who asks

    /// - Returns: nil for whoever shows no key.
    private func identify(_ request: HTTPRequest) throws(Problem) -> APIKey? {
        let fields = request.headers.all("Authorization")
        let presented = fields.count == 1 ? RequestHandler.bearer(fields[0]) : nil
        if let key = presented.flatMap({ keys.key($0.utf8) }) {
            if let seconds = rates.withLock({ $0.take(key: key.name, nowMilliseconds: now()) }) {
                log.warning(
                    "a key asks more often than it may", .field("key", key.name),
                    .hint("raise api.requestsPerSecond if that is meant"))
                throw RequestHandler.tooMany(
                    seconds, "The key \(key.name) asks more often than \(settings.requestsPerSecond) times a second")
            }
            return key
        }
        if let seconds = rates.withLock({ $0.take(stranger: request.peer, nowMilliseconds: now()) }) {
            throw RequestHandler.tooMany(
                seconds, "Too many requests without a key that is known came from this address")
        }
        guard fields.isEmpty else {
            log.warning("a request shows a key that is not known", .field("peer", request.peer.description))
            throw Problem(
                .unknownKey,
                headers: [HTTPField("WWW-Authenticate", "Bearer realm=\"waypulse\", error=\"invalid_token\"")],
                "The Authorization field holds no key that is in force; send \"Authorization: Bearer KEY\" with a key of the file that api.keysFile names."
            )
        }
        return nil
    }

    private func checkScope(_ endpoint: Endpoint, _ key: APIKey?) throws(Problem) {
        guard let scope = endpoint.scope else { return }
        guard let key else {
            throw Problem(
                .noKey, headers: [HTTPField("WWW-Authenticate", "Bearer realm=\"waypulse\"")],
                "This path needs a key with the scope \(scope.rawValue); send it as \"Authorization: Bearer KEY\".")
        }
        guard key.scopes.contains(scope) else {
            throw Problem(
                .missingScope,
                headers: [
                    HTTPField(
                        "WWW-Authenticate",
                        "Bearer realm=\"waypulse\", error=\"insufficient_scope\", scope=\"\(scope.rawValue)\"")
                ], members: ["scope": scope.rawValue],
                "The key \(key.name) lacks the scope \(scope.rawValue), which this path needs; add it to the key's line in the file of keys."
            )
        }
    }

    // MARK: What is asked

    /// - Returns: false where the client would rather have a stream of events.
    private func checkForm(_ request: HTTPRequest, _ endpoint: Endpoint) throws(Problem) -> Bool {
        let length = request.headers["Content-Length"].flatMap { Int($0) } ?? 0
        let hasBody = length > 0 || request.headers["Transfer-Encoding"] != nil
        if hasBody, ["PUT", "POST", "DELETE"].contains(request.method), !isJSON(request.headers["Content-Type"]) {
            throw Problem(
                .unsupportedMediaType, headers: [HTTPField("Accept", "application/json")],
                "The body has to be JSON in UTF-8 and to say so; send \"Content-Type: application/json\".")
        }
        let ranges = MediaRanges(request.headers.all("Accept"))
        let json = ranges.quality(of: "application/json")
        if case .state = endpoint.subject, ranges.quality(of: "text/event-stream") > json { return false }
        guard json > 0 else {
            var forms = "application/json"
            if case .state = endpoint.subject { forms += " and text/event-stream" }
            throw Problem(.notAcceptable, "The Accept field leaves out all that there is here: \(forms).")
        }
        return true
    }

    private static func options(_ endpoint: Endpoint) -> HTTPResponse {
        HTTPResponse(status: 204, contentType: "", headers: [HTTPField("Allow", endpoint.allow)], body: [])
    }

    private static func noSuchPath(_ request: HTTPRequest) -> Problem {
        Problem(
            .unknownPath,
            "There is nothing here; GET /v1/openapi.json lists what there is. A / within an id is written %2F.")
    }

    private static func tooMany(_ seconds: Int, _ what: String) -> Problem {
        Problem(
            .tooManyRequests, headers: [HTTPField("Retry-After", String(seconds))],
            "\(what); wait \(seconds) s, then send it again.")
    }

    /// RFC 6750, section 2.1.
    private static func bearer(_ field: String) -> Substring? {
        let words = field.split(separator: " ", maxSplits: 1).map(\.trimmed)
        guard words.count == 2, words[0].lowercased() == "bearer", words[1].utf8.count <= KeyFile.keyLength.upperBound
        else {
            return nil
        }
        return words[1]
    }

    // MARK: Answers

    /// Counts an answer on its way out.
    func finished(_ call: Call, _ response: HTTPResponse, _ kind: Problem.Kind? = nil) -> HTTPResponse {
        instruments.count(
            call.route, status: response.status,
            microseconds: RequestHandler.monotonicMicroseconds - call.beganMicroseconds)
        if let rejection = kind.flatMap({ RegistrationInstruments.Rejection($0) }) {
            instruments.rejections.add(1, rejection)
        }
        if log.isOn(.debug) {
            log.debug(
                "request answered", .field("route", call.route.rawValue), .field("status", response.status),
                .field("key", call.key?.name ?? "none"))
        }
        return response
    }

    /// What the listener refuses by itself.
    func refusal(_ refusal: HTTPRefusal) -> HTTPResponse {
        let problem =
            switch refusal {
            case .malformed(let what): Problem(.malformedRequest, "The request cannot be read: \(what).")
            case .unknownTransferCoding:
                Problem(.unknownTransferCoding, "The body has a transfer coding other than chunked; send it as it is.")
            case .bodyTooLarge(let limit):
                Problem(
                    .tooLarge, "The body is larger than \(limit) bytes (api.maxBody); a registration has a few hundred."
                )
            case .overdue:
                Problem(
                    .unavailable, headers: [HTTPField("Retry-After", "2")],
                    "Nobody answered in time, so whether it was done is not known; send the same again, which does no harm."
                )
            }
        instruments.requests.add(1, .init(.other, .init(problem.kind.status)))
        if let rejection = RegistrationInstruments.Rejection(problem.kind) { instruments.rejections.add(1, rejection) }
        return problem.response(instance: nil)
    }

    /// The path as a URI has it; without the query, in which a client may have put anything.
    private static func instance(_ request: HTTPRequest) -> String {
        var text = ""
        for segment in request.segments {
            text += "/"
            for byte in segment.utf8 {
                let isPlain =
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "-._~".utf8.contains(byte)
                if isPlain {
                    text.unicodeScalars.append(Unicode.Scalar(byte))
                } else {
                    text += "%" + String(UInt16(byte) | 0x100, radix: 16, uppercase: true).dropFirst()
                }
            }
        }
        return text
    }

    private static var monotonicMicroseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
