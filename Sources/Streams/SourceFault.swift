/// Why a source cannot be read: what, where, and what to do about it.
public struct SourceFault: Error, Equatable, Sendable, CustomStringConvertible {
    public let source: String
    public let problem: String
    public let remedy: String

    public init(source: String, problem: String, remedy: String) {
        self.source = source
        self.problem = problem
        self.remedy = remedy
    }

    public var description: String { "\(source): \(problem); \(remedy)" }
}
