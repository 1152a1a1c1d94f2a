import CLinux
import Glibc

/// The two clocks that a provider token lives by.
public struct CredentialClock: Sendable {
    /// Decides age and renewal. It never steps, and it runs on while the machine sleeps: a token grows older in that time as well.
    public let steadyMilliseconds: @Sendable () -> Int64
    /// Goes into `iat`, and into nothing else, so that a step of the wall clock mints nothing.
    public let unixSeconds: @Sendable () -> Int64

    public init(
        steadyMilliseconds: @escaping @Sendable () -> Int64, unixSeconds: @escaping @Sendable () -> Int64
    ) {
        self.steadyMilliseconds = steadyMilliseconds
        self.unixSeconds = unixSeconds
    }

    public static let real = CredentialClock(
        steadyMilliseconds: {
            var time = timespec()
            clock_gettime(CLOCK_BOOTTIME, &time)
            return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
        },
        unixSeconds: { Int64(time(nil)) })
}
