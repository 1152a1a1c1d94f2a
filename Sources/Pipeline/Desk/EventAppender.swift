/// Puts single events where a group reads them, and says of each what became of it: those who registered a token wait for that.
///
/// `TopicWriter` of Streams is for many: it tries until all are there, and tells of none by itself. Here nobody is served by an attempt that
/// goes on after he was told that it failed; whoever asks again sends the same event, which counts once.
///
/// Belongs to the desk's thread.
protocol EventAppender: AnyObject {
    /// - Parameters:
    ///   - partition: nil to place it by its key, as other producers of the topic do.
    ///   - completion: called once, with nil when the broker has it, else with why not, or why nobody knows.
    func append(
        _ event: [UInt8], key: [UInt8], partition: Int32?, _ completion: @escaping (_ problem: String?) -> Void)
    /// Ends its connections. What was not answered is told so.
    func close(_ completion: @escaping () -> Void)
}
