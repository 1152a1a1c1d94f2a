/// A request, complete.
public struct HTTPRequest: Sendable {
    public let method: String
    /// Without the query.
    public let path: String
    public let body: [UInt8]

    public init(method: String, path: String, body: [UInt8]) {
        self.method = method
        self.path = path
        self.body = body
    }
}

public struct HTTPResponse: Sendable {
    public let status: Int
    public let contentType: String
    public let body: [UInt8]

    public init(status: Int = 200, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    public static func text(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
    }

    public static func json(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "application/json", body: Array(text.utf8))
    }

    public static let notFound = HTTPResponse.text("not found\n", status: 404)
}
