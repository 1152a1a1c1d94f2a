import Telemetry

/// The newest truth about an activity, told or not.
public struct NewestState: Sendable {
    /// Nil where none was ever known.
    public let position: Coordinate?
    /// Merged, without what pacing itself writes when an update leaves.
    public let contentState: ContentState
    /// Of the update that was taken last; 0 for none.
    public let sequence: UInt64
    public let hasEnded: Bool
    public let dismissal: Dismissal?
    public let frequentUpdates: Bool
}

extension Shard {
    /// - Returns: nil where no such activity is in memory.
    public func newest(of activityIdentifier: String) -> NewestState? {
        var identifier = activityIdentifier
        let index = identifier.withUTF8 { activities.find(UnsafeRawBufferPointer($0)) }
        guard let index, let record = slab.states[Int(index)].record else { return nil }
        let state = slab.states[Int(index)]
        return record._withUnsafeGuaranteedRef { record in
            NewestState(
                position: state.latest.exists ? state.latest.coordinate : nil, contentState: record.latestContent,
                sequence: record.sequence, hasEnded: state.flags.contains(.ended), dismissal: record.dismissal,
                frequentUpdates: record.frequentUpdates)
        }
    }
}
