import Instruments

/// What a request is about, as metrics have it.
enum Route: String, MetricLabel {
    static let labelName = "route"

    case updateToken = "update_token"
    case startToken = "start_token"
    case state
    case stateStream = "state_stream"
    case explanation = "explain"
    case document = "openapi"
    /// No path of the API.
    case other
}

/// A path of the API. The same in `schemas/openapi.json`, which a test holds to this.
struct Endpoint: Sendable, Equatable {
    enum Subject: Sendable, Equatable {
        /// Nil where the body names the activity.
        case updateToken(activity: String?)
        case startToken(user: String?, attributesType: String?)
        case state(activity: String)
        case explanation(activity: String)
        case document
    }

    let subject: Subject
    let methods: [String]

    struct Template: Sendable {
        /// Its parts; those in braces stand for any.
        let path: [String]
        let methods: [String]
        /// From what stood for the parts in braces, in their order.
        let subject: @Sendable ([String]) -> Subject

        init(_ path: String, _ methods: [String], _ subject: @escaping @Sendable ([String]) -> Subject) {
            self.path = path.split(separator: "/").map(String.init)
            self.methods = methods
            self.subject = subject
        }

        func values(_ segments: [String]) -> [String]? {
            guard segments.count == path.count else { return nil }
            var values: [String] = []
            for (segment, part) in zip(segments, path) {
                if part.hasPrefix("{") { values.append(segment) } else if segment != part { return nil }
            }
            return values
        }
    }

    static let templates = [
        Template("/v1/live-activities/{activityId}/token", ["PUT", "DELETE"]) { .updateToken(activity: $0[0]) },
        Template("/v1/live-activities/token", ["POST"]) { _ in .updateToken(activity: nil) },
        Template("/v1/users/{userId}/push-to-start-tokens/{attributesType}", ["PUT", "DELETE"]) {
            .startToken(user: $0[0], attributesType: $0[1])
        },
        Template("/v1/push/push-to-start", ["POST"]) { _ in .startToken(user: nil, attributesType: nil) },
        Template("/v1/live-activities/{activityId}/state", ["GET", "HEAD"]) { .state(activity: $0[0]) },
        Template("/v1/live-activities/{activityId}/explain", ["GET", "HEAD"]) { .explanation(activity: $0[0]) },
        Template("/v1/openapi.json", ["GET", "HEAD"]) { _ in .document },
    ]

    init?(_ segments: [String]) {
        for template in Endpoint.templates {
            guard let values = template.values(segments) else { continue }
            (subject, methods) = (template.subject(values), template.methods)
            return
        }
        return nil
    }

    var allow: String { (methods + ["OPTIONS"]).joined(separator: ", ") }

    var route: Route {
        switch subject {
        case .updateToken: .updateToken
        case .startToken: .startToken
        case .state: .state
        case .explanation: .explanation
        case .document: .document
        }
    }

    /// Nil where anybody may ask.
    var scope: Scope? {
        switch subject {
        case .updateToken, .startToken: .tokensWrite
        case .state: .stateRead
        case .explanation: .explainRead
        case .document: nil
        }
    }
}
