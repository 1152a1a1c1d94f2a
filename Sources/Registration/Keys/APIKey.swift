/// What a key may be used for.
public enum Scope: String, CaseIterable, Sendable {
    case tokensWrite = "tokens:write"
    case stateRead = "state:read"
    case explainRead = "explain:read"
}

/// A key as it is kept: whose it is, what it opens, and the hash that recognises it.
struct APIKey: Sendable, Equatable {
    /// For logs and limits; the key itself is in neither.
    let name: String
    let scopes: Set<Scope>
    let digest: KeyDigest
}
