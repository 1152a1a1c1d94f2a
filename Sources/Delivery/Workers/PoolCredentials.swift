/// The provider tokens that requests of a pool carry: the one in use, and those before it as long as answers may speak of them.
final class PoolCredentials {
    /// A token is in use for twenty minutes at least, a request under way for seconds.
    private static let mostKept = 8

    private let providerToken: ProviderToken
    /// The newest last.
    private var bearers: [ProviderToken.Bearer] = []
    /// Of the one in use.
    private(set) var generation: UInt32 = 0
    /// Generation 0 is no token's.
    private var agedGeneration: UInt32 = 0
    private var agedSeconds: Int64 = 0

    init(_ providerToken: ProviderToken) {
        self.providerToken = providerToken
    }

    var keptCount: Int { bearers.count }

    /// Since the first `renew`.
    var current: ProviderToken.Bearer {
        guard let bearer = bearers.last else { preconditionFailure("no provider token has been asked for") }
        return bearer
    }

    /// - Returns: whether another one has taken over.
    @discardableResult
    func renew() throws(CredentialFault) -> Bool {
        let bearer = try providerToken.bearer()
        guard bearers.last?.generation != bearer.generation else { return false }
        generation = bearer.generation
        bearers.append(bearer)
        if bearers.count > Self.mostKept { bearers.removeFirst() }
        return true
    }

    /// Whether a connection that has carried a token since then may carry the one in use: not where its key is another, nor sooner after the
    /// first than APNs lets a token be changed on a connection.
    func mayFollow(generation: UInt32, carriedSinceMilliseconds: Int64) -> Bool {
        guard let before = bearers.last(where: { $0.generation == generation }) else { return false }
        return before.keyIdentifier == current.keyIdentifier
            && providerToken.steadyMilliseconds - carriedSinceMilliseconds >= ProviderToken.shortestUseMilliseconds
    }

    var steadyMilliseconds: Int64 { providerToken.steadyMilliseconds }

    func bearer(generation: UInt32) -> ProviderToken.Bearer {
        guard let bearer = bearers.last(where: { $0.generation == generation }) else {
            preconditionFailure("provider token \(generation) is still under way, \(bearers.count) are known")
        }
        return bearer
    }

    /// The clock is read once for a token, until `forgetAge`.
    func ageSeconds(generation: UInt32) -> Int64 {
        if agedGeneration != generation {
            agedSeconds = providerToken.ageSeconds(of: bearer(generation: generation))
            agedGeneration = generation
        }
        return agedSeconds
    }

    func forgetAge() { agedGeneration = 0 }
}
