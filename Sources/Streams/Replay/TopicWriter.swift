/// Where a replay goes: takes records one after the other, in order within each partition, and says what became of them.
///
/// Belongs to the thread of its client's loop.
public protocol TopicWriter: AnyObject {
    /// Whether another record is taken now.
    var hasRoom: Bool { get }
    /// Records that were taken and are not acknowledged.
    var waiting: Int { get }
    var appended: Int { get }
    /// Sent again after an answer was lost: so many may be there twice.
    var repeated: Int { get }
    /// Answers that said no and were tried again, by their code.
    var refusals: [String: Int] { get }
    /// Why it has given up.
    var failure: (any Error)? { get }

    /// Takes a record. Only while it `hasRoom`.
    func append(_ record: ReplayedRecord)
    /// What time brings. To be called after each turn of the loop.
    func advance()
}

extension RedisStreamWriter: TopicWriter {
    public var failure: (any Error)? { fault }
}
