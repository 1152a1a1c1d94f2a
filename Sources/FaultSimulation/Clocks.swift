import Flow
import Pacing

/// The clocks of a world: the real one, which is what the agenda counts in, and what a lane is told of it.
struct Clocks {
    /// Where phones' clocks stood when the world began, Unix milliseconds.
    static let beginMilliseconds: Int64 = 1_800_000_000_000

    private let speed: Int64?
    private var anchored: AnchoredClock
    /// How far the wall clock of this machine is off.
    private(set) var wallErrorMilliseconds: Int64
    private(set) var realMilliseconds: Int64

    init(speed: Int64?) {
        self.init(speed: speed, realMilliseconds: 0, wallErrorMilliseconds: 0)
    }

    /// Of a machine that begins when the world has run for some time.
    init(speed: Int64?, realMilliseconds: Int64, wallErrorMilliseconds: Int64) {
        self.speed = speed
        self.realMilliseconds = realMilliseconds
        self.wallErrorMilliseconds = wallErrorMilliseconds
        anchored = AnchoredClock(
            monotonicMilliseconds: realMilliseconds,
            wallMilliseconds: Clocks.beginMilliseconds + realMilliseconds + wallErrorMilliseconds)
    }

    /// What phones, producers and the provider take for the time.
    var unixMilliseconds: Int64 { Clocks.beginMilliseconds + realMilliseconds * (speed ?? 1) }

    /// - Parameter offset: on the clock of the recording.
    func realMilliseconds(ofRecording offset: Int64) -> Int64 { offset / (speed ?? 1) }

    mutating func advance(toMilliseconds milliseconds: Int64) {
        realMilliseconds = max(realMilliseconds, milliseconds)
    }

    mutating func stepWall(byMilliseconds milliseconds: Int64) {
        wallErrorMilliseconds += milliseconds
    }

    mutating func read() -> Moment {
        let pacing =
            speed == nil
            ? anchored.read(
                monotonicMilliseconds: realMilliseconds,
                wallMilliseconds: unixMilliseconds + wallErrorMilliseconds)
            : Instant(milliseconds: unixMilliseconds)
        return Moment(pacing: pacing, realMilliseconds: realMilliseconds)
    }

    /// When to look again for what is due on pacing's clock: never too late, at times too early, since that clock may be slowed.
    func realMilliseconds(until due: Int64, from moment: Moment) -> Int64 {
        let missing = max(1, due - moment.pacing.nowMilliseconds)
        return realMilliseconds + (missing + (speed ?? 1) - 1) / (speed ?? 1)
    }
}
