import CLinux
import Glibc

/// A numeric address of either family.
public struct HTTPAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 bytes; none where it is unknown. An IPv4 address that came by a socket of both families has 4.
    public let bytes: [UInt8]

    public static let unknown = HTTPAddress(bytes: [])

    public init(bytes: [UInt8]) {
        let isMapped =
            bytes.count == 16 && bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
    }

    init(_ address: UnsafePointer<sockaddr>?) {
        guard let address else {
            self = .unknown
            return
        }
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            self.init(
                bytes: address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) }
                })
        case AF_INET6:
            self.init(
                bytes: address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }
                })
        default: self = .unknown
        }
    }

    /// What one client may be taken to have: an IPv4 address, or the 64 bits of an IPv6 network.
    public var network: [UInt8] { Array(bytes.prefix(8)) }

    public var description: String {
        var text = [CChar](repeating: 0, count: 64)
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard bytes.count == 4 || bytes.count == 16, inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil
        else {
            return "unknown"
        }
        return text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }
}

/// Where a listener is bound: a numeric address of either family, with or without the brackets that IPv6 has in URLs.
struct ListenAddress {
    private var storage = sockaddr_storage()
    /// The IPv6 address that stands for all takes IPv4 as well.
    let takesBothFamilies: Bool

    init?(host: String, port: UInt16) {
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        var four = sockaddr_in()
        var six = sockaddr_in6()
        if inet_pton(AF_INET, bare, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            takesBothFamilies = false
            withUnsafeMutableBytes(of: &storage) { room in withUnsafeBytes(of: four) { room.copyMemory(from: $0) } }
        } else if inet_pton(AF_INET6, bare, &six.sin6_addr) == 1 {
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            takesBothFamilies = withUnsafeBytes(of: six.sin6_addr) { $0.allSatisfy { $0 == 0 } }
            withUnsafeMutableBytes(of: &storage) { room in withUnsafeBytes(of: six) { room.copyMemory(from: $0) } }
        } else {
            return nil
        }
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
        withUnsafePointer(to: storage) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) } }
    }
}
