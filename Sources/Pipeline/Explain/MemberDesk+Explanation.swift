import Flow

extension MemberDesk {
    /// What the lane remembers of its decisions, and how the activity stands.
    ///
    /// - Parameter member: who answers; nil where no group is joined.
    public static func explained(by member: String?) -> Explain {
        { activity, partition, window in
            window.lane.explanation(
                of: String(decoding: activity, as: UTF8.self), partition: partition, at: window.moment
            ).map { ExplanationDocument.json($0, member: member) }
        }
    }
}
