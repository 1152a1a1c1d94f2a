import CLinux
import Glibc

/// Tells of clients that have closed their side.
///
/// libmicrohttpd would find out by reading. But it watches edges, and where a client's last bytes come together with its end there is one edge for
/// both: what it has read by then it takes for all there will be, and the connection stays until its time is over. A thousand requests
/// that end in their middle would hold a thousand places for ten seconds. Nor does it watch a connection that sleeps.
struct Hangups {
    /// EPOLLRDHUP | EPOLLONESHOT: the level would be told again and again until the connection is closed.
    private static let hangsUpOnce: UInt32 = 0x2000 | 1 << 30

    let descriptor: Int32
    private var events = [epoll_event](repeating: epoll_event(), count: 64)

    init?() {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        if descriptor < 0 { return nil }
    }

    func close() { _ = Glibc.close(descriptor) }

    func watch(_ peer: Peer) {
        var event = epoll_event()
        event.events = Hangups.hangsUpOnce
        event.data.ptr = Unmanaged.passUnretained(peer).toOpaque()
        epoll_ctl(descriptor, EPOLL_CTL_ADD, peer.descriptor, &event)
    }

    /// Before the peer's descriptor is closed.
    func forget(_ peer: Peer) { epoll_ctl(descriptor, EPOLL_CTL_DEL, peer.descriptor, nil) }

    /// Those that have hung up since the last call, or some of them.
    mutating func take() -> [Peer] {
        let count = epoll_wait(descriptor, &events, Int32(events.count), 0)
        return (0..<max(0, Int(count))).map {
            Unmanaged<Peer>.fromOpaque(events[$0].data.ptr!).takeUnretainedValue()
        }
    }

    /// Bytes that have come and were not read.
    static func unreadBytes(_ peer: Peer) -> Int32 {
        var bytes: Int32 = 0
        return ioctl(peer.descriptor, UInt(FIONREAD), &bytes) == 0 ? bytes : 0
    }
}
