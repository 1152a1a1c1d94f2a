import HTTP1

/// How often each key, and whoever has none, may ask.
///
/// Those without a key are counted in a table of fixed size, so that no number of addresses takes memory: two addresses may share a row, which
/// only strangers can suffer from. The table's order differs from process to process, so that nobody can aim at a row.
struct RequestRates {
    struct Rate: Sendable, Equatable {
        var perSecond: Double
        var burst: Double
    }

    static let rows = 4096
    private let known: Rate
    private let strangers: Rate
    private var byKey: [String: TokenBucket] = [:]
    private var byAddress: [TokenBucket]

    init(known: Rate, strangers: Rate, nowMilliseconds: Int64) {
        self.known = known
        self.strangers = strangers
        byAddress = Array(
            repeating: TokenBucket(burst: strangers.burst, nowMilliseconds: nowMilliseconds), count: RequestRates.rows)
    }

    /// - Returns: nil where the request may go on, else how many seconds to wait.
    mutating func take(key: String, nowMilliseconds: Int64) -> Int? {
        byKey[key, default: TokenBucket(burst: known.burst, nowMilliseconds: nowMilliseconds)].take(
            perSecond: known.perSecond, burst: known.burst, nowMilliseconds: nowMilliseconds)
    }

    mutating func take(stranger address: HTTPAddress, nowMilliseconds: Int64) -> Int? {
        let row = Int(UInt(bitPattern: address.network.hashValue) % UInt(RequestRates.rows))
        return byAddress[row].take(
            perSecond: strangers.perSecond, burst: strangers.burst, nowMilliseconds: nowMilliseconds)
    }

    /// Keys that are no more leave their buckets behind; a new file of keys is a good moment to forget them all.
    mutating func forgetKeys() { byKey = [:] }
}
