import CLinux
import Glibc

/// The few socket calls that client and server share.
package enum Socket {
    package static func make(family: Int32) throws(SystemFault) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { throw SystemFault(call: "socket") }
        return descriptor
    }

    package static func setOption(_ descriptor: Int32, level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Frames leave when they are written: coalescing is done above, by turns.
    package static func sendAtOnce(_ descriptor: Int32) {
        setOption(descriptor, level: Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    package static func takeError(_ descriptor: Int32) -> Int32 {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &value, &length)
        return value
    }

    package static func listen(on address: SocketAddress) throws(SystemFault) -> Int32 {
        let descriptor = try make(family: address.family)
        setOption(descriptor, level: SOL_SOCKET, SO_REUSEADDR, 1)
        guard address.withSocketAddress({ bind(descriptor, $0, $1) }) == 0 else {
            let fault = SystemFault(call: "bind \(address)")
            close(descriptor)
            throw fault
        }
        guard Glibc.listen(descriptor, 1_024) == 0 else {
            let fault = SystemFault(call: "listen \(address)")
            close(descriptor)
            throw fault
        }
        return descriptor
    }

    package static func localAddress(of descriptor: Int32) throws(SystemFault) -> SocketAddress {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard code == 0 else { throw SystemFault(call: "getsockname") }
        return SocketAddress(copying: &storage, length: length)
    }

    /// The next waiting connection; nil and `errno` when there is none.
    package static func accept(_ listener: Int32) -> (descriptor: Int32, peer: SocketAddress)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let descriptor = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.accept(listener, $0, &length) }
        }
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return (descriptor, SocketAddress(copying: &storage, length: length))
    }
}
