/// Why a text is not a value, and what to write instead.
public struct Refusal: Error, Equatable, Sendable {
    public let problem: String
    public let remedy: String?

    public init(problem: String, remedy: String?) {
        self.problem = problem
        self.remedy = remedy
    }
}
