import Instruments
import Sockets

/// Commands to Redis, pipelined over one connection a node, on an event loop.
///
/// Belongs to the loop's thread. Connects by itself, from its making on, and again after each loss; a command that cannot be sent waits for a
/// connection as long as `commandTimeoutMilliseconds`, and is `unsent` then. Completions come from the loop, never from within a call here.
public final class RedisClient {
    private let surroundings: Surroundings
    private let directory: Directory
    private let channel: Channel
    private var readers: [WeakReader] = []

    private struct WeakReader { weak var reader: RedisReader? }

    public init(settings: RedisSettings, loop: EventLoop, instruments: RedisInstruments, log: Log) {
        surroundings = Surroundings(loop: loop, settings: settings, log: log, instruments: instruments)
        directory = Self.directory(surroundings)
        channel = Channel(surroundings, directory, home: nil, name: settings.clientName)
    }

    deinit { close() }

    private static func directory(_ surroundings: Surroundings) -> Directory {
        switch surroundings.settings.topology {
        case .single(let address): FixedDirectory(address)
        case .sentinel(let addresses, let master): SentinelDirectory(surroundings, addresses, masterName: master)
        case .cluster(let addresses): ClusterDirectory(surroundings, addresses)
        }
    }

    public var settings: RedisSettings { surroundings.settings }

    /// Sends at the end of the loop's turn, in order with all that goes to the same node. `command` is copied and may be refilled.
    ///
    /// - Parameters:
    ///   - slot: of the command's keys, which decides the node of a cluster; nil for a command without keys, which goes to any.
    ///   - completion: called exactly once, on the loop.
    public func send(
        _ command: borrowing RedisCommand, slot: HashSlot?, _ completion: @escaping (RedisOutcome) -> Void
    ) {
        channel.send(
            command, slot: slot, timeoutMilliseconds: surroundings.settings.commandTimeoutMilliseconds, completion)
    }

    /// The same for a key, or any one of several that share a hash tag.
    public func send(
        _ command: borrowing RedisCommand, key: String?, _ completion: @escaping (RedisOutcome) -> Void
    ) {
        send(command, slot: key.map { HashSlot(of: $0) }, completion)
    }

    /// A connection of its own, for commands that block: they would hold up all that comes behind them.
    ///
    /// - Parameter key: whose node it goes to in a cluster; it follows moves and fail-overs.
    public func openReader(key: String?) -> RedisReader {
        let reader = RedisReader(surroundings, directory, slot: key.map { HashSlot(of: $0) })
        readers.removeAll { $0.reader == nil }
        readers.append(WeakReader(reader: reader))
        return reader
    }

    public var status: RedisStatus { channel.status }

    /// Called on the loop when `status` may have changed. Replaces the handler before.
    public func onStatusChange(_ handler: @escaping () -> Void) { channel.onChange = handler }

    /// Ends all connections, those of its readers, too. What is still open completes as `lost` or `unsent` in the loop's next turn.
    public func close() {
        channel.close()
        for reader in readers { reader.reader?.close() }
        directory.close()
        surroundings.resolver.close()
    }
}
