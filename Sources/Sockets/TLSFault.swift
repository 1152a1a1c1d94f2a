import COpenSSL

/// A TLS set-up that cannot work: a file that is missing, a key that does not fit.
public struct TLSFault: Error, Sendable, CustomStringConvertible {
    public let problem: String

    public init(problem: String) { self.problem = problem }

    /// With what OpenSSL has to say about it; empties this thread's error queue.
    init(_ doing: String) {
        let reasons = Self.takeErrorTexts()
        problem = reasons.isEmpty ? doing : "\(doing): \(reasons)"
    }

    public var description: String { problem }

    static func takeErrorTexts() -> String {
        var texts: [String] = []
        while case let code = ERR_get_error(), code != 0 { texts.append(text(ofError: code)) }
        return texts.joined(separator: "; ")
    }

    static func text(ofError code: UInt) -> String {
        if let reason = ERR_reason_error_string(code) { return String(cString: reason) }
        return "OpenSSL error \(code)"
    }
}
