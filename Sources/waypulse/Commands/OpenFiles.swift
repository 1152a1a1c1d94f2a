import Glibc
import Instruments

/// How many descriptors this process may have open: each partition's reader and each worker's connection takes one.
enum OpenFiles {
    /// For logs, recordings, the metrics listener and its clients, the store's connections.
    private static let besides = 64

    /// Raises what the process may have to what it is allowed to have, and says so where that is too little.
    static func provide(partitions: Int, connections: Int, _ log: Log) {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            raised.rlim_cur = limit.rlim_max
            if setrlimit(resource, &raised) == 0 { limit = raised }
        }
        let needed = partitions + connections + besides
        guard limit.rlim_cur < needed else { return }
        log.warning(
            "this process may have fewer files open than it may need: partitions could stay unread",
            .field("allowed", Int(clamping: limit.rlim_cur)), .field("needed", needed),
            .hint("ulimit -n \(needed) before it starts, or LimitNOFILE=\(needed) in its systemd unit"))
    }
}
