import Flow
import Instruments

/// What lanes ask of the registry of tokens, and starts that its budgets put off.
final class RegistryInstruments {
    enum RequestLabel: String, MetricLabel {
        case begin, end
        case startToken = "start_token"
        case takeStart = "take_start"
        case forgetStartToken = "forget_start_token"
        static var labelName: String { "request" }

        init(_ request: RegistryRequest) {
            switch request {
            case .begin: self = .begin
            case .end: self = .end
            case .startToken: self = .startToken
            case .takeStart: self = .takeStart
            case .forgetStartToken: self = .forgetStartToken
            }
        }
    }

    private let requests: Counter<RequestLabel>
    private let failures: Counter<NoLabel>
    private let abandoned: Counter<NoLabel>
    private let waiting: Gauge<NoLabel>
    private let deferrals: Counter<NoLabel>
    private let deferred: Gauge<NoLabel>
    private let log: Log
    private var publishedFailures: UInt64 = 0
    private var publishedAbandoned: UInt64 = 0

    /// Of starts that are put off at the same time, so many have a line of their own.
    private static let mostLines = 8

    init(registry: Registry, log: Log) {
        self.log = log
        requests = registry.counter(
            "waypulse_registry_requests_total", by: RequestLabel.self,
            help:
                "Requests to the registry of tokens: activities begun and ended, start tokens looked up, starts counted, tokens forgotten."
        )
        failures = registry.counter(
            "waypulse_registry_failures_total",
            help: "Requests that the registry of tokens did not do; they are made again.")
        abandoned = registry.counter(
            "waypulse_registry_abandoned_total",
            help: "Requests to the registry of tokens that are made no more, since too many waited.")
        waiting = registry.gauge(
            "waypulse_registry_waiting", help: "Requests to the registry of tokens that have no answer yet.")
        deferrals = registry.counter(
            "waypulse_start_deferrals_total",
            help: "Times that a start by push was put off since its phone's budget was used up.")
        deferred = registry.gauge(
            "waypulse_starts_deferred", help: "Starts by push that wait for their phone's budget.")
    }

    func note(_ request: RegistryRequest) { requests.add(1, RequestLabel(request)) }

    /// About four times a second.
    func publish(_ lane: Lane) {
        failures.add(Int64(lane.registryFailures - publishedFailures))
        publishedFailures = lane.registryFailures
        abandoned.add(Int64(lane.abandonedRegistryRequests - publishedAbandoned))
        publishedAbandoned = lane.abandonedRegistryRequests
        waiting.set(Int64(lane.openRegistryRequests))
        deferred.set(Int64(lane.deferredStarts))
        let putOff = lane.takeStartDeferrals()
        guard !putOff.isEmpty else { return }
        deferrals.add(Int64(putOff.count))
        for one in putOff.prefix(Self.mostLines) {
            log.warning(
                "a start by push waits: its phone was sent as many as it takes",
                .activity(String(decoding: one.activity, as: UTF8.self)), .partition(Int(one.partition)),
                .field("untilMilliseconds", "\(one.untilMilliseconds)"),
                .hint(
                    "pacing.startBudget and startBudgetWindow say how many; beyond them phones drop starts and APNs says 200"
                ))
        }
        if putOff.count > Self.mostLines {
            log.warning("more starts by push wait for their phones", .field("count", putOff.count - Self.mostLines))
        }
    }
}
