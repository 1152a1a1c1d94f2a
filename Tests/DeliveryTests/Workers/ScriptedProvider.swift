import Glibc
import HTTP2
import Sockets
import Synchronization

@testable import Delivery

/// A server that does what a test says, where no APNs, and so no simulator of it, would.
final class ScriptedProvider {
    /// On the server's thread: a request, how many have come on its connection, this one included, and what the script wants to keep.
    typealias Script = @Sendable (ServerRequest, Int, inout [ServerRequest]) -> Void

    /// One for all, so that a client trusts each of them.
    private static let certificate = try! ServerCertificate.make(names: ["localhost", "127.0.0.1"])
    static var authority: [UInt8]? { certificate.authorityPEM }

    let port: UInt16
    private let thread: LoopThread
    private let state: Shared

    /// What a handler and the test share.
    private final class Shared: Sendable {
        let connections = Atomic<Int>(0)
        let stopping = Atomic<Bool>(false)
        let port = Mutex<UInt16?>(nil)
    }

    private final class Handler: ServerHandler {
        private let script: Script
        private let shared: Shared
        private var kept: [ServerRequest] = []

        init(_ script: @escaping Script, _ shared: Shared) {
            self.script = script
            self.shared = shared
        }

        override func opened(_ connection: ServerConnection) {
            shared.connections.add(1, ordering: .relaxed)
        }

        override func received(_ request: ServerRequest) {
            request.connection.label += 1
            script(request, request.connection.label, &kept)
        }
    }

    private final class Door {
        var server: Server?
    }

    init(selectsHTTP2: Bool = true, _ script: @escaping Script = { request, _, _ in _ = request.respond(status: 200) })
        throws
    {
        let shared = Shared()
        state = shared
        let tls = try TLSContext.server(Self.certificate, selectsHTTP2: selectsHTTP2)
        thread = try LoopThread.start(name: "scripted") { loop in
            let door = Door()
            door.server = try? Server(loop: loop, tls: tls, handler: Handler(script, shared))
            shared.port.withLock { $0 = door.server?.port ?? 0 }
            loop.onWake {
                guard shared.stopping.load(ordering: .relaxed) else { return }
                door.server?.close()
                door.server = nil
                loop.stop()
            }
        }
        while shared.port.withLock({ $0 }) == nil { sched_yield() }
        port = shared.port.withLock { $0 ?? 0 }
    }

    deinit {
        state.stopping.store(true, ordering: .relaxed)
        thread.mailbox.wake()
        thread.join()
    }

    var connectionCount: Int { state.connections.load(ordering: .relaxed) }

    func bench(_ change: (inout WorkerBench.Setup) -> Void = { _ in }) throws -> WorkerBench {
        var setup = WorkerBench.Setup()
        setup.authority = Self.authority
        change(&setup)
        return try WorkerBench(port: port, keyPEM: TestKeys.rfc7515, setup)
    }
}
