import HTTP1
import Telemetry

/// Why a request was not done, as RFC 9457 has it: for programs by `type`, for people by `detail`, which says what, where and how to mend.
struct Problem: Error, Equatable {
    /// The kinds there are. Their names are part of the API.
    enum Kind: String, CaseIterable {
        case malformedRequest = "malformed-request"
        case noKey = "no-key"
        case unknownKey = "unknown-key"
        case missingScope = "missing-scope"
        case unknownPath = "unknown-path"
        case unknownActivity = "unknown-activity"
        case methodNotAllowed = "method-not-allowed"
        case notAcceptable = "not-acceptable"
        case tooLarge = "too-large"
        case unsupportedMediaType = "unsupported-media-type"
        case otherMember = "other-member"
        case invalidField = "invalid-field"
        case tooManyRequests = "too-many-requests"
        case unknownTransferCoding = "unknown-transfer-coding"
        case unavailable
        case overloaded
        case tooManyStreams = "too-many-streams"

        var status: Int {
            switch self {
            case .malformedRequest: 400
            case .noKey, .unknownKey: 401
            case .missingScope: 403
            case .unknownPath, .unknownActivity: 404
            case .methodNotAllowed: 405
            case .notAcceptable: 406
            case .tooLarge: 413
            case .unsupportedMediaType: 415
            case .otherMember: 421
            case .invalidField: 422
            case .tooManyRequests: 429
            case .unknownTransferCoding: 501
            case .unavailable, .overloaded, .tooManyStreams: 503
            }
        }

        var title: String {
            switch self {
            case .malformedRequest: "The request cannot be read"
            case .noKey: "A key is needed"
            case .unknownKey: "The key is not known"
            case .missingScope: "The key does not open this"
            case .unknownPath: "There is nothing at this path"
            case .unknownActivity: "The activity is not known"
            case .methodNotAllowed: "The path has no such method"
            case .notAcceptable: "The answer has no form that is accepted"
            case .tooLarge: "The body is too large"
            case .unsupportedMediaType: "The body is no JSON"
            case .otherMember: "Another member knows"
            case .invalidField: "A field cannot be used"
            case .tooManyRequests: "Too many requests"
            case .unknownTransferCoding: "The transfer coding is not known"
            case .unavailable: "It cannot be done now"
            case .overloaded: "Too much waits already"
            case .tooManyStreams: "Too many streams are open"
            }
        }
    }

    let kind: Kind
    let detail: String
    var field: String?
    var headers: [HTTPField] = []
    /// Further members, by name.
    var members: [String: String] = [:]

    init(
        _ kind: Kind, field: String? = nil, headers: [HTTPField] = [], members: [String: String] = [:], _ detail: String
    ) {
        self.kind = kind
        self.field = field
        self.headers = headers
        self.members = members
        self.detail = detail
    }

    /// - Parameter instance: the request's path, as far as it is known.
    func response(instance: String?) -> HTTPResponse {
        var text = ByteBuffer(capacity: 256)
        text.append(raw: "{\"type\":")
        text.append(string: "urn:waypulse:problem:\(kind.rawValue)")
        text.append(raw: ",\"title\":")
        text.append(string: kind.title)
        text.append(raw: ",\"status\":")
        text.append(integer: kind.status)
        text.append(raw: ",\"detail\":")
        text.append(string: detail)
        for (name, value) in [("instance", instance), ("field", field)]
            + members.sorted(by: { $0.key < $1.key }).map({ ($0.key, Optional($0.value)) })
        {
            guard let value else { continue }
            text.append(raw: ",\"\(name)\":")
            text.append(string: value)
        }
        text.append(raw: "}\n")
        return HTTPResponse(
            status: kind.status, contentType: "application/problem+json",
            headers: [HTTPField("Cache-Control", "no-store")] + headers, body: text.bytes)
    }
}
