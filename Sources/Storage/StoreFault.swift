import Flow

/// Why a store did not do what it was asked, in words for people: what happened, where, what to do.
public struct StoreFault: Error, Equatable, Sendable, CustomStringConvertible {
    public let failure: StoreFailure
    public let description: String

    init(_ failure: StoreFailure, _ description: String) {
        self.failure = failure
        self.description = description
    }
}
