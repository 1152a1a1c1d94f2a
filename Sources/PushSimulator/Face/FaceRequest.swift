/// A request as the face sees it: decoded HTTP/2, nothing judged yet.
public struct FaceRequest: Sendable {
    public struct Field: Sendable, Equatable {
        /// Lower case, as HTTP/2 demands (RFC 9113, section 8.2).
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public var method: String
    public let path: String
    /// The path's last part, lower-cased; empty where the path names no token.
    let deviceToken: String
    /// Without pseudo fields, in order, duplicates kept.
    public var fields: [Field]
    public let body: [UInt8]
    /// The body, read as a push.
    public let content: PhonePush
    /// The body passed the limit while it was being received; `body` holds its beginning at most.
    public var isBodyTooLarge: Bool
    public var hasClientCertificate: Bool
    /// Numeric, without the port.
    public var sourceAddress: String

    public init(
        method: String = "POST", path: String, fields: [Field], body: [UInt8] = [], isBodyTooLarge: Bool = false,
        hasClientCertificate: Bool = false, sourceAddress: String = "127.0.0.1"
    ) {
        self.method = method
        self.path = path
        let isTokenPath = path.hasPrefix(FaceRequest.devicePath + "/")
        deviceToken = isTokenPath ? String(path.dropFirst(FaceRequest.devicePath.count + 1)).lowercased() : ""
        self.fields = fields
        self.body = body
        content = PhonePush(body: body)
        self.isBodyTooLarge = isBodyTooLarge
        self.hasClientCertificate = hasClientCertificate
        self.sourceAddress = sourceAddress
    }

    public subscript(name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    static let devicePath = "/3/device"
}

/// The instant of a request, on both clocks. Provider tokens and connections live on the real clock, tokens and phones on the
/// phones' own, which in a replay is the recording's.
public struct FaceInstant: Sendable {
    /// Unix milliseconds.
    public var realMilliseconds: Int64
    /// Unix milliseconds.
    public var phoneMilliseconds: Int64

    public init(realMilliseconds: Int64, phoneMilliseconds: Int64? = nil) {
        self.realMilliseconds = realMilliseconds
        self.phoneMilliseconds = phoneMilliseconds ?? realMilliseconds
    }
}
