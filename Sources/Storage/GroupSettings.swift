/// A group and one of its members, as its store sees them.
public struct GroupSettings: Sendable {
    public var name: String
    /// Differs between members that live at the same time: two of one name take each other's partitions.
    public var member: String
    public var partitions: Int32
    /// In the order of the member's sources, 1…8.
    public var topics: [String]
    public var leaseMilliseconds: Int64

    public init(
        name: String = "waypulse", member: String, partitions: Int32, topics: [String],
        leaseMilliseconds: Int64 = 10_000
    ) {
        self.name = name
        self.member = member
        self.partitions = partitions
        self.topics = topics
        self.leaseMilliseconds = leaseMilliseconds
    }

    /// In their order: a checkpoint tells how far each was applied by its place.
    var topicsText: String { topics.joined(separator: " ") }
}
