import CLinux
import Glibc

/// An IPv4 or IPv6 address with its port.
public struct SocketAddress: Sendable, Equatable, CustomStringConvertible {
    private var storage: sockaddr_storage
    package let length: socklen_t

    /// From text such as `127.0.0.1` or `::1`; nil for anything that would need a look-up.
    public init?(numeric: String, port: UInt16) {
        var four = sockaddr_in()
        var six = sockaddr_in6()
        if inet_pton(AF_INET, numeric, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            self.init(copying: &four, length: socklen_t(MemoryLayout<sockaddr_in>.size))
        } else if inet_pton(AF_INET6, numeric, &six.sin6_addr) == 1 {
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            self.init(copying: &six, length: socklen_t(MemoryLayout<sockaddr_in6>.size))
        } else {
            return nil
        }
    }

    package init(copying address: UnsafeRawPointer, length: socklen_t) {
        storage = sockaddr_storage()
        self.length = min(length, socklen_t(MemoryLayout<sockaddr_storage>.size))
        withUnsafeMutableBytes(of: &storage) { $0.baseAddress!.copyMemory(from: address, byteCount: Int(self.length)) }
    }

    public var port: UInt16 {
        // sin_port and sin6_port stand at the same place.
        withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
    }

    package var family: Int32 { Int32(storage.ss_family) }

    package func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    public static func == (left: SocketAddress, right: SocketAddress) -> Bool {
        left.length == right.length
            && withUnsafeBytes(of: left.storage) { left in
                withUnsafeBytes(of: right.storage) { right in
                    left.prefix(Int(right.count)).elementsEqual(right)
                }
            }
    }

    public var description: String {
        withSocketAddress { address, length in
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { text in
                guard
                    getnameinfo(address, length, text.baseAddress, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
                else { return "unknown address" }
                let host = String(cString: text.baseAddress!)
                return family == AF_INET6 ? "[\(host)]:\(port)" : "\(host):\(port)"
            }
        }
    }
}
