/// Why a text is not a value, and what to write instead.
public struct Refusal: Error, Equatable, Sendable {
    public let problem: String
    public let remedy: String?
}
