/// Why a credential cannot be used. Never holds the credential itself.
public struct CredentialFault: Error, Equatable, Sendable, CustomStringConvertible {
    public let credential: String
    public let problem: String
    public let remedy: String

    public init(credential: String, problem: String, remedy: String) {
        self.credential = credential
        self.problem = problem
        self.remedy = remedy
    }

    public var description: String { "\(credential): \(problem); \(remedy)" }
}
