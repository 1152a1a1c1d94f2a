import CLinux
import Glibc
import Sockets

/// The bytes' way to one server: a non-blocking socket, bare or under TLS. Owns the descriptor.
enum Transport {
    case plain(Int32)
    case tls(TLSTransport)

    enum Read {
        case bytes(Int)
        case nothing
        case ended(TransportEnd)
    }

    enum Write {
        case bytes(Int)
        case blocked
        case failed(TransportEnd)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Read {
        switch self {
        case .tls(let tls):
            switch tls.read(into: buffer) {
            case .bytes(let count): return .bytes(count)
            case .nothing: return .nothing
            case .ended(let end): return .ended(end)
            }
        case .plain(let descriptor):
            while true {
                let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                if count > 0 { return .bytes(count) }
                if count == 0 { return .ended(.endOfFile) }
                if errno == EAGAIN { return .nothing }
                if errno != EINTR { return .ended(.reset(errorNumber: errno)) }
            }
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Write {
        switch self {
        case .tls(let tls):
            switch tls.write(bytes) {
            case .bytes(let count): return .bytes(count)
            case .blocked: return .blocked
            case .failed(let end): return .failed(end)
            }
        case .plain(let descriptor):
            while true {
                let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                if count >= 0 { return .bytes(count) }
                if errno == EAGAIN { return .blocked }
                if errno != EINTR { return .failed(.reset(errorNumber: errno)) }
            }
        }
    }

    /// - Parameter hasUnsent: bytes wait that were offered to `write`.
    func close(hasUnsent: Bool) {
        switch self {
        case .tls(let tls):
            if !hasUnsent { tls.sayGoodbye() }
            tls.close()
        case .plain(let descriptor): Glibc.close(descriptor)
        }
    }
}
