import Flow
import HTTP2
import Instruments

/// What lives on a worker's thread: its pools, and the reports of this turn of the loop.
final class WorkerCore: EventSource {
    let loop: EventLoop
    let options: DeliveryOptions
    let instruments: DeliveryInstruments
    let requestDuration: HistogramWriter<NoLabel>
    let resolver: Resolver
    var random: SplitMix
    private let inbox: Worker.Inbox
    private let deliver: @Sendable ([Report]) -> Void
    private var pools: [ConnectionPool] = []
    private var reports: [Report] = []
    private var isEndOfTurnAsked = false

    init(
        loop: EventLoop, inbox: Worker.Inbox, pools: [PoolSettings], options: DeliveryOptions,
        instruments: DeliveryInstruments, log: Log, reports: @escaping @Sendable ([Report]) -> Void
    ) {
        self.loop = loop
        self.inbox = inbox
        self.options = options
        self.instruments = instruments
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
        let jobs = inbox.takeAll()
        for job in jobs { pools[job.pool].submit(job) }
    }

    func report(_ report: Report) {
        turnHasNews()
        reports.append(report)
    }

    /// What was learnt in this turn is told at its end, in one batch.
    func turnHasNews() {
        guard !isEndOfTurnAsked else { return }
        isEndOfTurnAsked = true
        loop.callAtEndOfTurn(self)
    }

    override func endOfTurn() {
        isEndOfTurnAsked = false
        for pool in pools { pool.reportStreams() }
        var batch: [Report] = []
        swap(&batch, &reports)
        if !batch.isEmpty { deliver(batch) }
    }
}
