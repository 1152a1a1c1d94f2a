/// A promise of the product that a journal shows to be broken.
public struct BrokenPromise: Sendable, Equatable, CustomStringConvertible {
    public enum Promise: String, Sendable, CaseIterable {
        /// The sequence of an activity rises with every update; only a retry of the newest, with the same id, repeats it.
        case sequenceRises
        /// A sequence number never stands for two content-states.
        case sequenceKeepsContent
        /// The timestamp rises with every push that was processed.
        case timestampRises
        /// In no window more routine updates than the cadence allows.
        case routineWindow
        /// In no window more updates than cadence and urgent interval allow, endings aside.
        case totalWindow
        /// In the end the phone knows the final state.
        case finalStateTold
        /// Nothing is sent after an accepted end.
        case nothingAfterEnd
        /// Nothing is sent to tokens that are unknown or known to be dead.
        case liveTargets
        /// Priority 10 is for what is urgent, and what is urgent goes with 10 unless the bucket is exhausted.
        case priority
        /// No push that APNs must refuse as malformed.
        case wellFormed
        /// What was accepted is not dropped by the phone.
        case shown
    }

    public let promise: Promise
    /// The activity's id where it is known, else `token <fingerprint>`.
    public let activity: String
    /// The journal's entry at which it shows; nil where something is missing altogether.
    public let entry: Int?
    /// One sentence: what was found, and what was promised.
    public let explanation: String

    public var description: String {
        "\(promise.rawValue): \(activity)\(entry.map { ", entry \($0)" } ?? ""): \(explanation)"
    }
}
