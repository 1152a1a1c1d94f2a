import Glibc
import HTTP1
import HTTP2
import Sockets
import Synchronization
import Telemetry

/// APNs on loopback, over real TLS, with phones behind it. It has a thread of its own between `start()` and `stop()`; everything else here may
/// be called from any thread at any time.
public final class SimulatorServer: Sendable {
    public struct Options: Sendable {
        public var address = "127.0.0.1"
        /// 0 takes a free one.
        public var port: UInt16 = 0
        /// For the control port; 0 takes a free one, nil opens none.
        public var controlPort: UInt16?
        /// Whoever reaches the control port may do anything: keep it on loopback, or in a network of its own.
        public var controlAddress = "127.0.0.1"
        /// Names and addresses in the certificate.
        public var names = ["localhost", "127.0.0.1"]
        /// Gets `ca.pem`, `AuthKey_<key id>.p8` and `journal.jsonl`; nil writes nothing.
        public var directory: String?
        public var bundleIdentifier = "com.example.courier"
        public var keyIdentifier = "S1MK3YWAYP"
        public var teamIdentifier = "S1MT3AMWAY"
        public var face = FaceSettings()
        public var phones = PhoneSettings()
        public var faults = FaultSettings()
        public var clock = SimulatorClock.real
        public var sequenceField = FieldPath("sequenceNumber")
        /// A connection without a request for so long is sent away with `IdleTimeout`; nil is off.
        public var idleMilliseconds: Int64?
        /// New connections from one address beyond this many a minute are closed at once; nil is off.
        public var maxConnectionsPerMinute: Int?
        /// Streams above the announced and acknowledged limit: GOAWAY instead of `REFUSED_STREAM`.
        public var sendsAwayOverLimit = false
        public var seed: UInt64 = 1
        /// Requests that are remembered; at the limit the oldest tenth is let go.
        public var maxJournalEntries = Int.max
        /// Beyond it the journal's file begins anew, and the one before is kept.
        public var maxJournalFileBytes = Int.max
        /// Where phones' apps send their tokens; nil where nobody is told.
        public var appBackend: AppBackend.Options?
        /// Called on the simulator's thread when a phone tells its app a token.
        public var onTokenReport: (@Sendable (PhoneModel.TokenReport) -> Void)?

        public init() {}
    }

    public let options: Options
    /// What a client signs its provider tokens with.
    public let providerKey: ProviderKeyPair
    /// What a client has to trust, PEM.
    public let authorityPEM: [UInt8]
    let shared: SimulatorShared
    private let tls: SimulatorTLS
    private let running = Mutex<Running?>(nil)

    private struct Running: Sendable {
        let thread: LoopThread
        let port: UInt16
        let control: HTTPListener?
        let backend: AppBackend?
    }

    /// - Throws: `SimulatorFault` where no certificate, key or file can be made.
    public init(_ options: Options = Options()) throws(SimulatorFault) {
        self.options = options
        do {
            tls = try SimulatorTLS(names: options.names)
            authorityPEM = tls.authorityPEM
            let pair = try ProviderKeyPair(
                identifier: options.keyIdentifier, teamIdentifier: options.teamIdentifier)
            providerKey = pair
            var files: SimulatorFiles?
            if let directory = options.directory {
                files = try SimulatorFiles(
                    directory: directory, authorityPEM: authorityPEM, key: pair,
                    maxJournalBytes: options.maxJournalFileBytes)
            }
            let core = SimulatorCore(options: options, keys: [try pair.registered()])
            shared = SimulatorShared(core: core, options: options, files: files)
        } catch {
            throw SimulatorFault(problem: "\(error)")
        }
    }

    deinit {
        stop()
    }

    /// Paths of what was written, where a directory was given.
    public var files: SimulatorFiles? { shared.files }
    /// Nil unless it runs.
    public var port: UInt16? { running.withLock { $0?.port } }
    /// Nil unless it runs and has a control port.
    public var controlPort: UInt16? { running.withLock { $0?.control?.port } }

    /// - Returns: the port that it listens on. While it runs, the port that it has.
    /// - Throws: `SimulatorFault` where the address is taken or no thread can be had.
    @discardableResult
    public func start() throws(SimulatorFault) -> UInt16 {
        if let port { return port }
        let handover = Handover<Result<UInt16, SimulatorFault>>()
        let (shared, tls) = (shared, tls)
        let backend = try options.appBackend.map { options throws(SimulatorFault) in try AppBackend(options) }
        let thread: LoopThread
        do {
            thread = try LoopThread.start(name: "apns-simulator") { loop in
                handover.give(SimulatorHandler.furnish(loop, shared: shared, tls: tls, backend: backend))
            }
        } catch {
            backend?.stop()
            throw SimulatorFault(problem: "no thread for the simulator: \(error)")
        }
        shared.attach(thread.mailbox)
        do throws(SimulatorFault) {
            let port = try handover.take().get()
            let control = try options.controlPort.map { port throws(SimulatorFault) in
                let requests = ControlRequests(shared: shared, backend: backend)
                do throws(ListenFault) {
                    return try HTTPListener(
                        host: options.controlAddress, port: port,
                        callbacks: HTTPListener.Callbacks(admit: { _ in .accept { requests.handle($0, $1) } }))
                } catch {
                    throw SimulatorFault(problem: error.description)
                }
            }
            running.withLock { $0 = Running(thread: thread, port: port, control: control, backend: backend) }
            return port
        } catch {
            finish(thread)
            backend?.stop()
            throw error
        }
    }

    /// Closes listener and connections at once, and returns when the thread has ended. The journal stays readable.
    public func stop() {
        let stopped = running.withLock { running in
            defer { running = nil }
            return running
        }
        guard let stopped else { return }
        stopped.control?.stop()
        finish(stopped.thread)
        stopped.backend?.stop()
    }

    private func finish(_ thread: LoopThread) {
        let closed = Handover<Void>()
        shared.order(.stop(closed))
        closed.take()
        thread.stopAndJoin()
        shared.detach()
    }
}

public struct SimulatorFault: Error, CustomStringConvertible {
    public let problem: String
    public var description: String { problem }
}
