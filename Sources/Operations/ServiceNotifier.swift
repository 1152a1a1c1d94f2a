import Glibc

/// Tells systemd how the service is doing: one datagram to `$NOTIFY_SOCKET` (sd_notify(3)); without that variable it does nothing.
public struct ServiceNotifier: Sendable {
    private let path: String?

    public init() {
        path = getenv("NOTIFY_SOCKET").map { String(cString: $0) }
    }

    public func ready() { send("READY=1") }

    /// - Parameter drainMilliseconds: how long the end may take.
    public func stopping(drainMilliseconds: Int64) {
        send("STOPPING=1\nEXTEND_TIMEOUT_USEC=\((drainMilliseconds + 5_000) * 1_000)")
    }

    public func status(_ text: String) { send("STATUS=\(text)") }

    private func send(_ message: String) {
        guard let path, !path.isEmpty, path.utf8.count < 108 else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // A leading @ stands for the abstract name space, whose names begin with a zero byte.
        withUnsafeMutableBytes(of: &address.sun_path) { room in
            room.copyBytes(from: path.utf8)
            if path.hasPrefix("@") { room[0] = 0 }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.utf8.count)
        var bytes = Array(message.utf8)
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, &bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}
