import CBenchmarks
import Delivery
import HTTP2
import Instruments
import Sockets
import Synchronization

/// Pushes through a `Worker`, as lanes do: pool, policy, deadlines and instruments are in it. The next jobs are made on the worker's own
/// thread as soon as answers are reported, so that what a lane does besides is not counted.
final class WorkerClient: Sendable {
    private struct State {
        var load = PushLoad()
        var worker: Worker?
        var submitted = 0
        var outstanding = 0
        /// As the worker reports it.
        var streams = 0
        var work = PushBenchmark.Work()
        var batch = JobBatch()
        var began: (cpu: Int64, time: Int64, allocations: UInt64)?
        var isDone = false
    }

    private let plan: PushPlan
    private let state = Mutex(State())
    private let result = OnceValue<PushBenchmark.Work>()

    static func push(_ plan: PushPlan) throws -> PushBenchmark.Work {
        let client = WorkerClient(plan)
        let worker = try Worker(
            name: "worker-0", pools: [try .benchmark(port: plan.port, tls: plan.tls)], options: DeliveryOptions(),
            instruments: DeliveryInstruments(registry: Registry()), log: .benchmark
        ) { client.take($0) }
        client.begin(worker)
        let work = client.result.take()
        worker.stop()
        client.state.withLock { $0.worker = nil }
        return work
    }

    private init(_ plan: PushPlan) {
        self.plan = plan
    }

    private func begin(_ worker: Worker) {
        state.withLock { state in
            state.worker = worker
            submitNext(&state)
        }
    }

    /// On the worker's thread.
    private func take(_ reports: [Report]) {
        let done = state.withLock { state in
            // Here and not where the first jobs are made: that may be another thread, whose allocations are others.
            if state.began == nil, state.worker != nil {
                state.began = (Clock.processCPU(), Clock.monotonic(), cbenchmarks_allocations())
            }
            for report in reports {
                switch report {
                case .streams(_, let count): state.streams = count
                case .completed(_, let outcome):
                    state.outstanding -= 1
                    switch outcome {
                    case .answered(let answer, _) where answer.isAccepted: state.work.accepted += 1
                    case .unsent: state.submitted -= 1
                    case .answered, .signalled: state.work.others += 1
                    }
                }
            }
            submitNext(&state)
            return finish(&state)
        }
        if let done { result.give(done) }
    }

    /// The worker is not stopped meanwhile, so that nothing is reported from here.
    private func submitNext(_ state: inout State) {
        guard let worker = state.worker, state.streams > 0 else { return }
        let count = min(plan.requests - state.submitted, min(plan.streams, state.streams) - state.outstanding)
        guard count > 0 else { return }
        state.outstanding += count
        for _ in 0..<count {
            state.submitted += 1
            // A body is copied for each push, as a payload that was just built is.
            state.batch.add(
                identifier: UInt64(state.submitted), pool: 0, headers: state.load.nextHeaders(), body: state.load.body)
        }
        worker.submit(&state.batch)
    }

    private func finish(_ state: inout State) -> PushBenchmark.Work? {
        guard !state.isDone, state.work.accepted + state.work.others == plan.requests, let began = state.began else {
            return nil
        }
        state.isDone = true
        state.work.cpuNanoseconds = Clock.processCPU() - began.cpu
        state.work.nanoseconds = Clock.monotonic() - began.time
        state.work.allocations = cbenchmarks_allocations() - began.allocations
        return state.work
    }
}

extension PoolSettings {
    /// One app at a server of the benchmark's.
    static func benchmark(port: UInt16, tls: TLSContext) throws -> PoolSettings {
        PoolSettings(
            app: "bench", host: PushLoad.host, port: port, topic: PushLoad.topic, tls: tls,
            providerToken: try PushLoad.providerToken())
    }
}

extension Log {
    /// Only what went wrong.
    static var benchmark: Log { Log(component: "bench", to: LogSink(level: .warning, format: .text)) }
}
