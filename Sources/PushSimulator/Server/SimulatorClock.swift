import CLinux
import Glibc

/// The two clocks of a simulator: the real one, by which provider tokens age, and the phones' own, which in a replay is the recording's.
public struct SimulatorClock: Sendable {
    /// Unix milliseconds.
    public let phoneMilliseconds: @Sendable () -> Int64

    /// - Parameter phoneMilliseconds: called on the simulator's thread with every request; it must not block.
    public init(phoneMilliseconds: @escaping @Sendable () -> Int64) {
        self.phoneMilliseconds = phoneMilliseconds
    }

    public static let real = SimulatorClock { realMilliseconds() }

    /// A clock that begins at `startMilliseconds` now and runs `speed` times as fast as the real one.
    public static func replay(startMilliseconds: Int64, speed: Double) -> SimulatorClock {
        let began = realMilliseconds()
        return SimulatorClock { startMilliseconds + Int64(Double(realMilliseconds() - began) * speed) }
    }

    static func realMilliseconds() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
    }

    func instant(skewMilliseconds: Int64 = 0) -> FaceInstant {
        FaceInstant(
            realMilliseconds: SimulatorClock.realMilliseconds() + skewMilliseconds,
            phoneMilliseconds: phoneMilliseconds())
    }
}
