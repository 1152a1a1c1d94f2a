/// Knows which server is asked: the one that is configured, the master that Sentinels name, or the owner of a slot in a cluster.
class Directory {
    private var readers: [WeakChannel] = []

    private struct WeakChannel { weak var channel: Channel? }

    /// Nil while nobody knows.
    func address(of slot: HashSlot?) -> RedisAddress? { nil }

    /// Servers worth a connection.
    func contains(_ address: RedisAddress) -> Bool { true }

    /// Why nobody knows; nil while somebody is being asked for the first time, or all is well.
    var fault: RedisFault? { nil }

    var expectsMaster: Bool { false }
    /// Whether commands may be sent on to other servers.
    var isCluster: Bool { false }

    /// A connection to it failed or was lost, or it turned out not to be the right one.
    func doubts(_ address: RedisAddress) {}

    /// A node of a cluster says that another one owns a slot.
    func moved(_ slot: HashSlot, to address: RedisAddress) {}

    /// A node that a command was sent to for once keeps its connection, whoever owns what.
    func welcome(_ address: RedisAddress) {}

    func close() {}

    final func addReader(_ channel: Channel) {
        readers.removeAll { $0.channel == nil }
        readers.append(WeakChannel(channel: channel))
    }

    final func tellReaders() {
        for reader in readers { reader.channel?.directoryChanged() }
    }
}

/// One server, always the same.
final class FixedDirectory: Directory {
    private let only: RedisAddress

    init(_ only: RedisAddress) { self.only = only }

    override func address(of slot: HashSlot?) -> RedisAddress? { only }
}
