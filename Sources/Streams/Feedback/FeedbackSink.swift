/// An event as it leaves.
public struct FeedbackLine: Sendable {
    /// Of the activity: with streams it says which one.
    public let partition: Int32
    /// The activity's id.
    public let key: String
    public let value: [UInt8]

    public init(partition: Int32, key: String, value: [UInt8]) {
        (self.partition, self.key, self.value) = (partition, key, value)
    }
}

/// Where feedback goes: a file, streams, a topic. Belongs to the thread of its loop.
public protocol FeedbackSink: AnyObject {
    /// Keeps lines, those of an activity in order; one call at a time. Where it fails all of them are handed over again, and some may be
    /// there twice.
    ///
    /// - Parameter done: is called once, at once or later, on the loop's thread; nil where they are kept.
    func write(_ lines: ArraySlice<FeedbackLine>, done: @escaping (SourceFault?) -> Void)
    /// Nothing is written any more.
    func close()
}
