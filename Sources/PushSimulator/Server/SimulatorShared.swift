import HTTP2
import Sockets
import Synchronization

/// What the simulator's thread and its callers share: the core under one lock, and orders on their way to the thread.
final class SimulatorShared: Sendable {
    enum Order: Sendable {
        case faultsChanged
        case drain(Drain)
        case resetConnections
        case stop(Handover<Void>)
        /// The turn after a stop, when HTTP/2 has closed its connections.
        case leave(Handover<Void>)
    }

    let core: Mutex<SimulatorCore>
    let options: SimulatorServer.Options
    let files: SimulatorFiles?
    var clock: SimulatorClock { options.clock }
    /// Connections that are open, and all that ever were; those that were turned away.
    let connectionCount = Atomic<Int>(0)
    let openedCount = Atomic<Int>(0)
    let turnedAwayCount = Atomic<Int>(0)
    /// Lines of the journal that could not be written.
    let unwrittenCount = Atomic<Int>(0)
    /// Requests that wait for their latency.
    let heldCount = Atomic<Int>(0)
    let followers = TokenFollowers()
    private let orders = Mutex<[Order]>([])
    private let mailbox = Mutex<LoopMailbox?>(nil)

    init(core: sending SimulatorCore, options: SimulatorServer.Options, files: SimulatorFiles?) {
        self.core = Mutex(core)
        self.options = options
        self.files = files
    }

    func attach(_ mailbox: LoopMailbox) { self.mailbox.withLock { $0 = mailbox } }
    func detach() { mailbox.withLock { $0 = nil } }

    /// Without a thread an order waits for the next one.
    func order(_ order: Order) {
        orders.withLock { $0.append(order) }
        mailbox.withLock { $0 }?.wake()
    }

    /// Whether every order so far has been carried out, or is just being so.
    var hasObeyed: Bool { orders.withLock(\.isEmpty) }

    func takeOrders() -> [Order] {
        orders.withLock { orders in
            defer { orders = [] }
            return orders
        }
    }
}
