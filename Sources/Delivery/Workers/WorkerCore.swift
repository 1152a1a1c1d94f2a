import Flow
import HTTP2
import Instruments
import Sockets

/// Addresses of a name, now.
typealias AddressLookUp = @Sendable (_ host: String, _ port: UInt16) -> Result<[SocketAddress], ResolveFault>

/// What lives on a worker's thread: its pools, and the reports of this turn of the loop.
final class WorkerCore: EventSource {
    /// It keeps the core, in the handler of its wakes, until the thread ends.
    // Unchecked, since each push asks for its time.
    unowned(unsafe) let loop: EventLoop
    let options: DeliveryOptions
    let instruments: DeliveryInstruments
    let requestDuration: HistogramWriter<NoLabel>
    var random: SplitMix
    /// Counts batches of jobs: what need not be looked at for each job is looked at once in each of these.
    private(set) var batch: UInt64 = 0
    private let resolver: Resolver
    private let lookUp: AddressLookUp?
    private let inbox: JobInbox
    private let permits: SendPermits?
    private let deliver: @Sendable ([Report]) -> Void
    private var pools: [ConnectionPool] = []
    private var jobs = JobBatch()
    private var reports: [Report] = []
    private var turn = Turn.quiet

    private enum Turn {
        case quiet
        /// Something happened; the connections have not had their say yet.
        case hasNews
        case isTelling
    }

    init(
        loop: EventLoop, inbox: JobInbox, pools: [PoolSettings], options: DeliveryOptions,
        instruments: DeliveryInstruments, log: Log, lookUp: AddressLookUp?, permits: SendPermits?,
        reports: @escaping @Sendable ([Report]) -> Void
    ) {
        self.loop = loop
        self.inbox = inbox
        self.permits = permits
        self.options = options
        self.instruments = instruments
        self.lookUp = lookUp
        requestDuration = instruments.requestDuration.writer()
        deliver = reports
        resolver = Resolver(loop: loop)
        random = SplitMix(seed: UInt64.random(in: .min ... .max))
        super.init()
        self.pools = pools.enumerated().map {
            ConnectionPool(index: $0.offset, settings: $0.element, core: self, log: log)
        }
    }

    func start() {
        for pool in pools { pool.start() }
    }

    func takeJobs() {
        batch += 1
        var taken = JobBatch()
        swap(&taken, &jobs)
        let isLast = inbox.take(into: &taken)
        let current = permits?.current ?? []
        taken.visitAll { job, body in
            let mayLeave = permits?.permits(job, current) ?? true
            if isLast || !mayLeave { giveBack(job) } else { pools[job.pool].submit(job, body: body) }
        }
        taken.removeAll()
        swap(&taken, &jobs)
        if isLast { close() }
    }

    /// No stream is free for it.
    func giveBack(_ job: Job) {
        instruments.requests.add(1, .unsent)
        report(.completed(identifier: job.identifier, outcome: .unsent))
    }

    /// All of it within this turn: connections complete their requests and close at its end, and what that brings is told then.
    private func close() {
        turnHasNews()
        resolver.close()
        for pool in pools { pool.close() }
        loop.stop()
    }

    func resolve(host: String, port: UInt16, _ completion: @escaping Resolver.Completion) {
        if let lookUp { completion(lookUp(host, port)) } else { resolver.resolve(host: host, port: port, completion) }
    }

    // MARK: Reports

    func report(_ report: Report) {
        turnHasNews()
        reports.append(report)
    }

    /// What was learnt in this turn is told at its end, in one batch.
    func turnHasNews() {
        guard turn == .quiet else { return }
        turn = .hasNews
        loop.callAtEndOfTurn(self)
    }

    override func endOfTurn() {
        // Whether a stream is free is known when the connections have written: only then is a cancelled stream closed, and a full socket
        // seen to be full. They are called in the same round, so a second one is asked for.
        if turn == .hasNews {
            turn = .isTelling
            return loop.callAtEndOfTurn(self)
        }
        for pool in pools { pool.endTurn() }
        turn = .quiet
        guard !reports.isEmpty else { return }
        // The next turn will bring about as much.
        var told: [Report] = []
        told.reserveCapacity(reports.count)
        swap(&told, &reports)
        deliver(told)
    }
}
