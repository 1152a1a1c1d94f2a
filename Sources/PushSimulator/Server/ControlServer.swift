import CLinux
import CMicrohttpd
import Glibc
import Telemetry

/// The simulator's control port on 127.0.0.1: a thread of libmicrohttpd between init and `stop()`.
final class ControlServer: @unchecked Sendable {
    // The daemon is set in init and taken down in stop(), which SimulatorServer calls once.
    private var daemon: OpaquePointer?
    private let requests: ControlRequests
    let port: UInt16

    init(port: UInt16, shared: SimulatorShared) throws(SimulatorFault) {
        let (socket, port) = try ControlServer.listen(port: port)
        self.port = port
        requests = ControlRequests(shared: shared)
        let flags = MHD_USE_INTERNAL_POLLING_THREAD.rawValue | MHD_USE_EPOLL.rawValue
        let arguments: [any CVarArg] = [
            Int32(bitPattern: MHD_OPTION.LISTEN_SOCKET.rawValue), socket, Int32(bitPattern: MHD_OPTION.END.rawValue),
        ]
        // The daemon lends the pointer to its callbacks until stop(), and self lives at least as long.
        let context = Unmanaged.passUnretained(requests).toOpaque()
        daemon = withVaList(arguments) { arguments in
            MHD_start_daemon_va(UInt32(flags), 0, nil, nil, ControlRequests.handle, context, arguments)
        }
        guard daemon != nil else {
            close(socket)
            throw SimulatorFault(problem: "libmicrohttpd does not start on port \(port)")
        }
    }

    func stop() {
        MHD_stop_daemon(daemon)
        daemon = nil
    }

    /// Own socket: libmicrohttpd would listen on every address.
    private static func listen(port: UInt16) throws(SimulatorFault) -> (socket: Int32, port: UInt16) {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket, pointer, size) == 0 && Glibc.listen(socket, 16) == 0
                    && getsockname(socket, pointer, &size) == 0
            }
        }
        guard isListening else {
            let text = String(cString: strerror(errno))
            close(socket)
            throw SimulatorFault(problem: "cannot listen on 127.0.0.1:\(port) for control: \(text)")
        }
        return (socket, UInt16(bigEndian: address.sin_port))
    }
}
