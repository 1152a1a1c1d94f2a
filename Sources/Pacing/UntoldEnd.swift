import Telemetry

/// The end of an activity of which no phone will hear: there was nobody to tell, or no way to, until the activity was forgotten.
public struct UntoldEnd: Sendable {
    public enum Reason: String, Sendable {
        /// It has no target: none was ever named, or the one it had is gone.
        case noTarget = "no_target"
        /// It was to be begun by push, and that push did not arrive: there is no card to end.
        case neverBegun = "never_begun"
        /// It has a target, and the end could not leave before the activity was forgotten.
        case tooLate = "too_late"
    }

    public let activityIdentifier: String
    public let pool: Int
    public let reason: Reason
    /// Of the newest update that was taken; 0 where none was.
    public let sequence: UInt64
    /// Where its updates went last; nil where nobody ever said.
    public let target: PushTarget?
    /// Unix milliseconds; of the target that it has, nil where that is gone.
    public let targetRegisteredAtMilliseconds: Int64?
}

extension Shard {
    /// To be called where what waits is given up, before it is.
    func noteUntoldEnd(_ index: UInt32, _ record: ActivityRecord) {
        guard settings.notesUntoldEnds else { return }
        let isLeftWaiting = record.flight.map { !$0.isInFlight && $0.update.kind == .end } ?? false
        guard record.isEnding || isLeftWaiting else { return }
        let reason: UntoldEnd.Reason =
            record.target == nil ? .noTarget : isBegunByNothing(record) ? .neverBegun : .tooLate
        untoldEnds.append(
            UntoldEnd(
                activityIdentifier: withIdentifier(ofIndex: index) { String(decoding: $0, as: UTF8.self) },
                pool: Int(state(index).pointee.pool), reason: reason, sequence: record.sequence,
                target: record.target ?? record.goneTarget,
                targetRegisteredAtMilliseconds: record.target == nil ? nil : record.targetRegisteredAtMilliseconds))
    }

    /// Those since the last call.
    public func takeUntoldEnds() -> [UntoldEnd] {
        guard !untoldEnds.isEmpty else { return [] }
        defer { untoldEnds = [] }
        return untoldEnds
    }
}
