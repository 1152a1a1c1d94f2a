import CMicrohttpd
import Glibc

/// A connection, in one of the queues that its phase belongs to. Touched by the listener's thread alone.
final class Peer {
    enum Phase: Int, CaseIterable {
        /// A request is awaited or on its way in.
        case receiving
        /// Between requests.
        case idle
        /// With whoever answers.
        case deciding
        /// The answer is on its way out.
        case sending
        case streaming
    }

    let descriptor: Int32
    let address: HTTPAddress
    var phase = Phase.receiving
    var sinceMilliseconds: Int64
    /// It was shut down, and waits to be closed.
    var isDropped = false
    /// Once closed, what the client still sends is read for a moment, so that it gets to read our answer.
    var lingers = false
    /// It sends no more.
    var hasHungUp = false
    /// It is closed.
    var hasLeft = false
    var exchange: Exchange?
    fileprivate var next: Peer?
    fileprivate unowned(unsafe) var previous: Peer?

    init(descriptor: Int32, address: HTTPAddress, nowMilliseconds: Int64) {
        self.descriptor = descriptor
        self.address = address
        sinceMilliseconds = nowMilliseconds
    }

    /// The client finds its connection closed; libmicrohttpd finds it so as well, and forgets it.
    ///
    /// - Parameter discards: what the kernel still holds for a client that does not read; it would keep it for minutes.
    func drop(discards: Bool = false) {
        guard !isDropped else { return }
        isDropped = true
        if discards {
            var atOnce = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
        }
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}

/// Connections of one phase, the one that has been in it longest first: joining and leaving cost the same however many there are.
struct PeerQueue: Sequence {
    private var head: Peer?
    private unowned(unsafe) var tail: Peer?
    private(set) var count = 0

    init() {}

    var first: Peer? { head }

    mutating func append(_ peer: Peer) {
        peer.previous = tail
        if let tail { tail.next = peer } else { head = peer }
        tail = peer
        count += 1
    }

    mutating func remove(_ peer: Peer) {
        if tail === peer { tail = peer.previous }
        let next = peer.next
        next?.previous = peer.previous
        if let previous = peer.previous { previous.next = next } else { head = next }
        peer.next = nil
        peer.previous = nil
        count -= 1
    }

    func makeIterator() -> AnyIterator<Peer> {
        var peer = head
        return AnyIterator {
            defer { peer = peer?.next }
            return peer
        }
    }
}
