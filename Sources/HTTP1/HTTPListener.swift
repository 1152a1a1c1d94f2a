import CLinux
import CMicrohttpd
import Glibc

/// Why a listener could not begin.
public struct ListenFault: Error, Equatable, Sendable, CustomStringConvertible {
    public let address: String
    public let problem: String

    public var description: String { "cannot listen on \(address): \(problem); choose another address or port" }
}

/// Listens on one address with one thread of its own and answers whole requests from memory.
public final class HTTPListener: @unchecked Sendable {
    /// The rest of a longer body is read and dropped; the answer is 413.
    public static let maxBodyBytes = 1 << 20
    public static let maxConnections: UInt32 = 64
    /// A client that says nothing for so long is let go.
    public static let timeoutSeconds: UInt32 = 10

    /// Called on the listener's thread; must not block for long.
    public typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse

    // Set in init and ended in stop(), which the owner calls once; libmicrohttpd's thread only reads it.
    private let daemon: OpaquePointer
    private let context: Unmanaged<HandlerBox>
    public let port: UInt16

    /// - Parameters:
    ///   - host: a numeric IPv4 address.
    ///   - port: 0 takes a free one.
    public init(host: String = "127.0.0.1", port: UInt16, handler: @escaping Handler) throws(ListenFault) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else {
            throw ListenFault(address: "\(host):\(port)", problem: "\(host) is no numeric IPv4 address")
        }
        let context = Unmanaged.passRetained(HandlerBox(handler))
        let daemon = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                cmicrohttpd_start(
                    pointer, answer, finished, context.toOpaque(), Self.maxConnections, Self.timeoutSeconds)
            }
        }
        guard let daemon else {
            let problem = String(cString: strerror(errno))
            context.release()
            throw ListenFault(address: "\(host):\(port)", problem: problem)
        }
        self.daemon = daemon
        self.context = context
        self.port = UInt16(cmicrohttpd_port(daemon))
    }

    /// Closes every connection and ends the thread. The last call on this object.
    public func stop() {
        MHD_stop_daemon(daemon)
        context.release()
    }
}

final class HandlerBox: Sendable {
    let handler: HTTPListener.Handler

    init(_ handler: @escaping HTTPListener.Handler) {
        self.handler = handler
    }
}

/// What has arrived of a request; it belongs to the connection until the request is finished.
private final class Arrival {
    var body: [UInt8] = []
    var isTooLarge = false
}

private let answer:
    @convention(c) (
        UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
        UnsafePointer<CChar>?, UnsafeMutablePointer<Int>?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> MHD_Result = { context, connection, url, method, _, upload, uploadSize, slot in
        guard let context, let connection, let url, let method, let uploadSize, let slot else { return .NO }
        guard let held = slot.pointee else {
            // The first call brings the head alone.
            slot.pointee = Unmanaged.passRetained(Arrival()).toOpaque()
            return .YES
        }
        let arrival = Unmanaged<Arrival>.fromOpaque(held).takeUnretainedValue()
        if uploadSize.pointee > 0 {
            if arrival.body.count + uploadSize.pointee > HTTPListener.maxBodyBytes {
                arrival.isTooLarge = true
            } else if let upload {
                arrival.body.append(contentsOf: UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee))
            }
            uploadSize.pointee = 0
            return .YES
        }
        let box = Unmanaged<HandlerBox>.fromOpaque(context).takeUnretainedValue()
        let response =
            arrival.isTooLarge
            ? HTTPResponse.text("the body is larger than \(HTTPListener.maxBodyBytes) bytes\n", status: 413)
            : box.handler(
                HTTPRequest(method: String(cString: method), path: String(cString: url), body: arrival.body))
        return response.body.withUnsafeBytes {
            cmicrohttpd_respond(connection, UInt32(response.status), response.contentType, $0.baseAddress, $0.count)
        }
    }

private let finished:
    @convention(c) (
        UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
        MHD_RequestTerminationCode
    ) -> Void = { _, _, slot, _ in
        guard let held = slot?.pointee else { return }
        Unmanaged<Arrival>.fromOpaque(held).release()
        slot?.pointee = nil
    }
