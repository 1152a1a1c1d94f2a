import Flow

/// What the members of a group share: who lives, who owns which partition, how far each is settled, and the checkpoints.
public protocol Store: AnyObject {
    /// Answers each request once, on the thread of the caller, and those about one partition in the order in which they were made.
    /// The answer may come before this returns. Members that live are told in the order of their names, the same to all.
    func perform(_ request: StoreRequest, _ completion: @escaping (StoreAnswer) -> Void)

    /// What is wrong at present, for readiness and the log; nil when nothing is.
    var fault: StoreFault? { get }
}
