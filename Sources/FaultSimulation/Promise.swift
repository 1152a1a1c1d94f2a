/// What Waypulse promises, as far as a world can break it.
public enum Promise: String, CaseIterable, Sendable {
    /// Each phone ends up told the newest state, and every end is delivered or accounted for.
    case newestStateIsTold
    /// An alert is given to the phone in the end.
    case alertIsTold
    /// A start is never made twice: a second card would appear.
    case oneCard
    /// No start leaves that the registry has not counted against what its phone allows.
    case budgetHolds
    /// What was registered last is what pushes go to.
    case newestToken
    /// The number strictly rises, and never names another content-state.
    case sequenceRises
    case timestampsRise
    /// What leaves is the newest truth of that moment; a retry tells what it told before, unless something newer takes its place.
    case newestLeaves
    case retryIsTheSame
    case supersededIsNotSent
    /// The same content is not repeated before its time; a throttled target gets nothing before that.
    case holdsAreKept
    case oneInFlight
    case nothingAfterEnd
    /// A repeated event changes nothing.
    case replayChangesNothing
    case noiseIsDropped
    case cadenceHolds
    case everyEventIsAccounted
    case creditsComeBack
    /// With all faults over, time alone settles everything.
    case settles
    /// What leaves is something that APNs and a phone can take.
    case pushIsGood
    /// From the moment at which a partition is claimed its former owner sends nothing, writes nothing, commits nothing.
    case oneOwnerSends
    case oneOwnerWrites
    /// What is settled stays settled, and is counted right.
    case positionsRise
    /// What is committed to a group never passes what the store has acknowledged.
    case groupFollowsStore
    /// What a group wants back is let go of in time, whatever the store does.
    case letsGo
    /// Soon after all faults are over each partition has one reader, and keeps it.
    case everyPartitionIsRead
    /// The store keeps what lives and, for a time, what has ended; a member keeps no more in memory than it may.
    case storeIsBounded
    case memoryIsBounded

    /// One line for people.
    public var text: String {
        switch self {
        case .newestStateIsTold: "each phone is told the newest state, and every end"
        case .alertIsTold: "no alert is lost"
        case .oneCard: "an activity is started once"
        case .budgetHolds: "no start leaves beyond the budget of its phone"
        case .newestToken: "what was registered last is what pushes go to"
        case .sequenceRises: "the sequence strictly rises and names one content-state"
        case .timestampsRise: "timestamps strictly rise, and not far ahead of the clock"
        case .newestLeaves: "what leaves is the newest truth"
        case .retryIsTheSame: "a retry has the same sequence, id and content"
        case .supersededIsNotSent: "a superseded retry is not sent"
        case .holdsAreKept: "what the provider put off is not sent before its time"
        case .oneInFlight: "one update in flight per activity"
        case .nothingAfterEnd: "nothing is sent after the end"
        case .replayChangesNothing: "a repeated event changes nothing"
        case .noiseIsDropped: "what cannot be believed is dropped"
        case .cadenceHolds: "the cadence holds in every window"
        case .everyEventIsAccounted: "activity events are the sum of decisions and what is pending"
        case .creditsComeBack: "no stream is lost, and none is used that is not free"
        case .settles: "everything settles once the faults are over"
        case .pushIsGood: "only what APNs and a phone take is sent"
        case .oneOwnerSends: "an owner that was replaced sends nothing"
        case .oneOwnerWrites: "an owner that was replaced writes nothing"
        case .positionsRise: "what is settled stays settled"
        case .groupFollowsStore: "the group is told of nothing that the store does not have"
        case .letsGo: "what the group wants back is let go of in time"
        case .everyPartitionIsRead: "each partition has one reader once the faults are over"
        case .storeIsBounded: "the store keeps what lives, and what has ended for a time"
        case .memoryIsBounded: "a member keeps no more activities in memory than it may"
        }
    }
}

/// A promise that was broken, and how.
struct Broken: Error {
    let promise: Promise
    let explanation: String

    init(_ promise: Promise, _ explanation: String) {
        self.promise = promise
        self.explanation = explanation
    }
}
