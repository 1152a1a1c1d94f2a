import HTTP1
import Instruments
import Telemetry

/// Requests that may be done, and what comes of them.
extension RequestHandler {
    func handle(_ request: HTTPRequest, _ endpoint: Endpoint, _ call: Call, _ responder: HTTPResponder) {
        do throws(Problem) {
            switch endpoint.subject {
            case .updateToken(let activity):
                try register(updateToken: activity, request, call, responder)
            case .startToken(let user, let attributesType):
                try register(startToken: user, attributesType, request, call, responder)
            case .state(let activity):
                try tellState(RegistrationBody.checked(activity, "activityId"), request, call, responder)
            case .explanation(let activity):
                try explain(RegistrationBody.checked(activity, "activityId"), call, responder)
            case .document:
                let response = HTTPResponse(
                    contentType: "application/json", headers: [HTTPField("Cache-Control", "public, max-age=300")],
                    body: OpenAPIDocument.bytes)
                responder.respond(finished(call, response))
            }
        } catch {
            responder.respond(finished(call, error.response(instance: call.instance), error.kind))
        }
    }

    // MARK: Tokens

    private func register(
        updateToken activity: String?, _ request: HTTPRequest, _ call: Call, _ responder: HTTPResponder
    ) throws(Problem) {
        let body = try RegistrationBody(request.body)
        let revokes = request.method == "DELETE"
        let identifier =
            if let activity { try RegistrationBody.checked(activity, "activityId") } else {
                try body.identifier("activityId")
            }
        let registration = UpdateTokenRegistration(
            activityIdentifier: identifier, token: revokes ? try body.token() : try body.requiredToken(),
            isRevoked: revokes, frequentUpdates: revokes ? nil : try body.frequentUpdates(),
            app: try body.app(of: settings.apps), atMilliseconds: try body.timestamp(nowMilliseconds: now()))
        instruments.questions.add(1, call.route)
        desk.register(registration) { [self] in answer($0, registration.token, call, responder) }
    }

    private func register(
        startToken user: String?, _ attributesType: String?, _ request: HTTPRequest, _ call: Call,
        _ responder: HTTPResponder
    ) throws(Problem) {
        let body = try RegistrationBody(request.body)
        let revokes = request.method == "DELETE"
        let identifier =
            if let user { try RegistrationBody.checked(user, "userId") } else { try body.identifier("userId") }
        let type =
            if let attributesType { try RegistrationBody.checked(attributesType, "attributesType") } else {
                try body.identifier("attributesType")
            }
        let app = try body.app(of: settings.apps)
        guard app != nil || settings.apps.count < 2 else {
            throw Problem(
                .invalidField, field: "app",
                "\"app\" is missing, and several apps are configured; send one of: \(settings.apps.joined(separator: ", "))."
            )
        }
        let registration = StartTokenRegistration(
            user: identifier, attributesType: type, token: revokes ? try body.token() : try body.requiredToken(),
            isRevoked: revokes, app: app, atMilliseconds: try body.timestamp(nowMilliseconds: now()))
        instruments.questions.add(1, call.route)
        desk.register(registration) { [self] in answer($0, registration.token, call, responder) }
    }

    /// An older registration that arrives late is no mistake of the app's, and asks nothing of it: 200, and it says what became of it.
    private func answer(_ outcome: RegistrationOutcome, _ token: PushToken?, _ call: Call, _ responder: HTTPResponder) {
        switch outcome {
        case .appended: respond("appended", 202, token, call, responder)
        case .stored: respond("stored", 200, token, call, responder)
        case .superseded: respond("superseded", 200, token, call, responder)
        case .unavailable(let why): respond(RequestHandler.unavailable(why), call, responder)
        case .overloaded:
            respond(
                Problem(
                    .overloaded, headers: [HTTPField("Retry-After", "1")],
                    "So many registrations wait for the broker or the store already that this one was not taken; send it again in a second."
                ),
                call, responder)
        }
    }

    private func respond(
        _ status: String, _ code: Int, _ token: PushToken?, _ call: Call, _ responder: HTTPResponder
    ) {
        var text = ByteBuffer(capacity: 64)
        text.append(raw: "{\"status\":")
        text.append(string: status)
        if let token {
            text.append(raw: ",\"token\":")
            text.append(string: Fingerprint(token.hex).description)
        }
        text.append(raw: "}\n")
        let response = HTTPResponse(
            status: code, contentType: "application/json", headers: [HTTPField("Cache-Control", "no-store")],
            body: text.bytes)
        responder.respond(finished(call, response))
    }

    // MARK: States and explanations

    private func tellState(_ activity: String, _ request: HTTPRequest, _ call: Call, _ responder: HTTPResponder)
        throws(Problem)
    {
        guard call.route == .stateStream, request.method != "HEAD" else {
            let known = request.headers.all("If-None-Match")
            instruments.questions.add(1, call.route)
            desk.state(of: activity) { [self] outcome in
                guard let view = knownView(outcome, call, responder) else { return }
                let document = StateDocument(view)
                let isKnown = document.isKnown(to: known)
                let response = HTTPResponse(
                    status: isKnown ? 304 : 200, contentType: isKnown ? "" : "application/json",
                    headers: document.headers,
                    body: isKnown ? [] : document.body)
                responder.respond(finished(call, response))
            }
            return
        }
        guard watch.reserve() else {
            throw Problem(
                .tooManyStreams, headers: [HTTPField("Retry-After", "10")],
                "\(settings.maxStreams) streams are open (api.maxStreams); ask without Accept: text/event-stream, or again in 10 s."
            )
        }
        instruments.questions.add(1, call.route)
        let lastEvent = request.headers["Last-Event-ID"]
        desk.state(of: activity) { [self] outcome in
            guard let view = knownView(outcome, call, responder) else { return watch.release() }
            let document = StateDocument(view)
            // Nothing will follow the last state that the client has; 204 keeps an EventSource from coming again.
            if document.hasEnded, document.isEvent(lastEvent) {
                watch.release()
                responder.respond(
                    finished(
                        call,
                        HTTPResponse(
                            status: 204, contentType: "", headers: [HTTPField("Cache-Control", "no-store")], body: [])))
                return
            }
            _ = finished(call, HTTPResponse(status: 200, contentType: "text/event-stream", body: []))
            guard let key = call.key else { return watch.release() }
            watch.begin(activity, document, for: key, lastEvent: lastEvent, on: responder, nowMilliseconds: now())
        }
    }

    /// Nil where the client was told why there is none.
    private func knownView(_ outcome: StateOutcome, _ call: Call, _ responder: HTTPResponder) -> ActivityStateView? {
        switch outcome {
        case .known(let view): return view
        case .unknown: respond(RequestHandler.unknownActivity, call, responder)
        case .unavailable(let why): respond(RequestHandler.unavailable(why), call, responder)
        }
        return nil
    }

    private func explain(_ activity: String, _ call: Call, _ responder: HTTPResponder) throws(Problem) {
        instruments.questions.add(1, call.route)
        desk.explanation(of: activity) { [self] outcome in
            switch outcome {
            case .known(let body):
                let response = HTTPResponse(
                    contentType: "application/json", headers: [HTTPField("Cache-Control", "no-store")], body: body)
                responder.respond(finished(call, response))
            case .unknown: respond(RequestHandler.unknownActivity, call, responder)
            case .elsewhere(let member, let address):
                var members = ["member": member]
                members["address"] = address
                let remedy = address.map { "ask \($0)" } ?? "ask the API of that member"
                respond(
                    Problem(
                        .otherMember, members: members,
                        "The member \(member) owns this activity, and it alone knows; \(remedy)."),
                    call, responder)
            case .unavailable(let why): respond(RequestHandler.unavailable(why), call, responder)
            }
        }
    }

    private func respond(_ problem: Problem, _ call: Call, _ responder: HTTPResponder) {
        responder.respond(finished(call, problem.response(instance: call.instance), problem.kind))
    }

    private static let unknownActivity = Problem(
        .unknownActivity, "No activity of this id is known: it has not begun, is over for long, or has another id.")

    private static func unavailable(_ why: String) -> Problem {
        Problem(
            .unavailable, headers: [HTTPField("Retry-After", "2")],
            "It cannot be done now: \(why). Nothing was promised; send the same again.")
    }
}
