import CLinux
import Glibc

/// Sockets whose answer is out while the client still sends.
///
/// To close one with bytes unread makes the kernel send a reset, which can overtake the answer: the client of a body that is too large would read
/// "connection reset" in place of 413. So a copy of the descriptor outlives the connection for a moment, and what comes is thrown away.
struct LingeringSockets {
    private struct Socket {
        let descriptor: Int32
        let untilMilliseconds: Int64
        var budgetBytes: Int
    }

    static let maxSockets = 32
    private static let milliseconds: Int64 = 2_000
    /// Enough for a body that was meant well; one that never ends finds out by a reset.
    private static let bytesEach = 2 << 20
    private var sockets: [Socket] = []
    private var scratch = [UInt8](repeating: 0, count: 64 << 10)

    var descriptors: [Int32] { sockets.map(\.descriptor) }

    /// - Parameter descriptor: about to be closed by its owner.
    mutating func keep(_ descriptor: Int32, nowMilliseconds: Int64) {
        guard sockets.count < LingeringSockets.maxSockets else { return }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return }
        sockets.append(
            Socket(
                descriptor: copy, untilMilliseconds: nowMilliseconds + LingeringSockets.milliseconds,
                budgetBytes: LingeringSockets.bytesEach))
    }

    /// Reads what there is, and closes what has ended, had its time or sent too much.
    mutating func attend(nowMilliseconds: Int64) {
        for place in sockets.indices.reversed() where !stays(place, nowMilliseconds) {
            close(sockets[place].descriptor)
            sockets.swapAt(place, sockets.count - 1)
            sockets.removeLast()
        }
    }

    mutating func closeAll() {
        for socket in sockets { close(socket.descriptor) }
        sockets = []
    }

    // The sockets never block: libmicrohttpd made them so.
    private mutating func stays(_ place: Int, _ nowMilliseconds: Int64) -> Bool {
        guard nowMilliseconds < sockets[place].untilMilliseconds else { return false }
        // A little each turn, so that those who send without end hold up nobody else.
        let count = recv(sockets[place].descriptor, &scratch, scratch.count, 0)
        if count < 0 { return errno == EAGAIN || errno == EINTR }
        sockets[place].budgetBytes -= count
        return count > 0 && sockets[place].budgetBytes > 0
    }
}
