/// A request: its head while it is judged, complete when it is handled.
public struct HTTPRequest: Sendable {
    public let method: String
    /// Decoded, without the query. A `/` may be one that was written as `%2F`: `segments` tells.
    public let path: String
    /// What stands between the slashes of the path, each decoded once: valid UTF-8, no NUL.
    public let segments: [String]
    /// As it was written, without the question mark.
    public let query: String
    public let headers: HTTPHeaders
    /// The numeric address it came from.
    public let peer: HTTPAddress
    public internal(set) var body: [UInt8]

    public init(
        method: String, path: String, segments: [String]? = nil, query: String = "", headers: HTTPHeaders = [],
        peer: HTTPAddress = .unknown, body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.segments =
            segments ?? path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        self.query = query
        self.headers = headers
        self.peer = peer
        self.body = body
    }
}

/// The fields of a head in the order in which they came; names are compared without regard to case.
public struct HTTPHeaders: Sendable, ExpressibleByArrayLiteral {
    public private(set) var fields: [HTTPField]

    public init(_ fields: [HTTPField] = []) { self.fields = fields }
    public init(arrayLiteral fields: HTTPField...) { self.fields = fields }

    /// The first one of that name.
    public subscript(name: String) -> String? { fields.first { $0.isNamed(name) }?.value }

    public func all(_ name: String) -> [String] { fields.filter { $0.isNamed(name) }.map(\.value) }
}

public struct HTTPField: Sendable, Equatable {
    public let name: String
    public let value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    func isNamed(_ other: String) -> Bool {
        name.utf8.count == other.utf8.count
            && zip(name.utf8, other.utf8).allSatisfy { lowered($0) == lowered($1) }
    }

    private func lowered(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}

public struct HTTPResponse: Sendable {
    public let status: Int
    /// Empty where there is no body.
    public let contentType: String
    public let headers: [HTTPField]
    public let body: [UInt8]

    public init(status: Int = 200, contentType: String, headers: [HTTPField] = [], body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.headers = headers
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

/// What is to become of a request, decided from its head alone, before any of its body is read.
public enum HTTPAdmission: Sendable {
    /// Answered so; a body of bearable length is read and dropped, so that the client gets to read the answer.
    case refuse(HTTPResponse)
    /// Handled so once it is complete: on the listener's thread, which must not be held up. The answer may come from there or any other thread, later.
    case accept(@Sendable (HTTPRequest, HTTPResponder) -> Void)
}
