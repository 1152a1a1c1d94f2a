/// How long to wait before the next attempt: doubling, with half of each delay drawn by lot, so that members which lost the same Redis do not
/// come back in step.
struct Backoff {
    private let firstMilliseconds: Int64
    private let mostMilliseconds: Int64
    private var failures = 0

    init(firstMilliseconds: Int64, mostMilliseconds: Int64) {
        self.firstMilliseconds = max(1, firstMilliseconds)
        self.mostMilliseconds = max(self.firstMilliseconds, mostMilliseconds)
    }

    mutating func nextMilliseconds(using generator: inout some RandomNumberGenerator) -> Int64 {
        // Thirty doublings are beyond every limit; further ones would overflow.
        let whole = min(mostMilliseconds, firstMilliseconds << Int64(min(failures, 30)))
        failures += 1
        return whole / 2 + Int64.random(in: 0...(whole - whole / 2), using: &generator)
    }

    mutating func reset() { failures = 0 }
}
