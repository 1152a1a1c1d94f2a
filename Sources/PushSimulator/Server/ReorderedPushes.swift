/// Accepted pushes that are to reach their phone after the next one of the same token: HTTP/2 streams, and APNs behind them, promise no order.
struct ReorderedPushes: Sendable {
    struct Held: Sendable {
        let push: DeliveredPush
        let number: Int
        let sinceMilliseconds: Int64
    }

    private var byToken: [String: Held] = [:]
    /// Where no next one comes, on the real clock.
    static let longestMilliseconds: Int64 = 5_000
    static let maxHeld = 100_000

    var isEmpty: Bool { byToken.isEmpty }

    /// - Returns: whether it is held; not while another of its token is.
    mutating func holdBack(_ push: DeliveredPush, _ number: Int, at instant: FaceInstant) -> Bool {
        guard byToken[push.token] == nil, byToken.count < ReorderedPushes.maxHeld else { return false }
        byToken[push.token] = Held(push: push, number: number, sinceMilliseconds: instant.realMilliseconds)
        return true
    }

    mutating func take(token: String) -> Held? {
        byToken.isEmpty ? nil : byToken.removeValue(forKey: token)
    }

    /// Those that have waited long enough; all, where a time far off is given.
    mutating func takeDue(atMilliseconds now: Int64) -> [Held] {
        guard !byToken.isEmpty else { return [] }
        let due = byToken.values.filter { now - $0.sinceMilliseconds >= ReorderedPushes.longestMilliseconds }
        for held in due { byToken[held.push.token] = nil }
        return due.sorted { $0.number < $1.number }
    }
}
