import Flow
import Glibc
import Synchronization

/// Until when pushes of a partition may leave, and under which ownership: written by the lane's thread whenever a lease is renewed or gone,
/// asked by workers at the last moment before a push is submitted. A process that was frozen in between finds here that its time is over.
public final class SendPermits: Sendable {
    public struct Permit: Sendable, Equatable {
        public var epoch: Epoch
        /// On the clock of `nowMilliseconds`.
        public var untilMilliseconds: Int64

        public init(epoch: Epoch, untilMilliseconds: Int64) {
            self.epoch = epoch
            self.untilMilliseconds = untilMilliseconds
        }
    }

    /// By partition. Replaced as a whole, seldom; whoever asks holds what it got for the length of a batch.
    private let permits: Mutex<[Permit]>
    private let fencedPushes = Atomic(0)

    public init(partitions: Int) {
        permits = Mutex(Array(repeating: Permit(epoch: 0, untilMilliseconds: .min), count: partitions))
    }

    public func set(_ all: [Permit]) {
        permits.withLock { $0 = all }
    }

    var current: [Permit] { permits.withLock { $0 } }

    func permits(_ job: Job, _ permits: [Permit]) -> Bool {
        let permit = permits[Int(job.partition)]
        if permit.epoch == job.epoch, SendPermits.nowMilliseconds < permit.untilMilliseconds { return true }
        fencedPushes.add(1, ordering: .relaxed)
        return false
    }

    /// Pushes that were refused here.
    public var fenced: Int { fencedPushes.load(ordering: .relaxed) }

    /// Goes on while the machine sleeps, as a lease does.
    static var nowMilliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
