import Sockets

/// A connection of its own for commands that wait on the server, such as XREAD with BLOCK. Made by `RedisClient.openReader`.
///
/// Keep it: one that is let go closes its connection.
public final class RedisReader {
    private let channel: Channel
    private let slot: HashSlot?
    private let commandTimeoutMilliseconds: Int64

    init(_ surroundings: Surroundings, _ directory: Directory, slot: HashSlot?) {
        self.slot = slot
        commandTimeoutMilliseconds = surroundings.settings.commandTimeoutMilliseconds
        channel = Channel(
            surroundings, directory, home: slot, name: surroundings.settings.clientName.map { "\($0)-reader" })
    }

    deinit { channel.close() }

    /// As `RedisClient.send`. Other commands than blocking ones are welcome, too; they are answered in order.
    ///
    /// - Parameter blockMilliseconds: how long the server may wait before it begins to answer, as the command says; never 0 (for ever): a
    ///   connection that was lost without a word would never be missed.
    /// - Parameter mostReplyBytes: of an answer that is larger, no more than that is held: its connection ends, and it is lost.
    public func send(
        _ command: borrowing RedisCommand, blockMilliseconds: Int64, mostReplyBytes: Int = 512 << 20,
        _ completion: @escaping (RedisOutcome) -> Void
    ) {
        channel.send(
            command, slot: slot, timeoutMilliseconds: blockMilliseconds + commandTimeoutMilliseconds,
            mostReplyBytes: mostReplyBytes, completion)
    }

    public var status: RedisStatus { channel.status }

    /// Called on the loop when `status` may have changed. Replaces the handler before.
    public func onStatusChange(_ handler: @escaping () -> Void) { channel.onChange = handler }

    /// What is still open completes as `lost` or `unsent` in the loop's next turn.
    public func close() { channel.close() }
}
