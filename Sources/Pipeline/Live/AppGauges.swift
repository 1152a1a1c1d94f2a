import Delivery
import Flow
import Instruments
import LiveActivities

/// What can be seen of each app: whether its pushes pause, and how its provider token stands.
struct AppGauges {
    private let pauses: GaugeTable
    private let tokens: GaugeTable
    private let pools: [PoolSettings]

    init(registry: Registry, pools: [PoolSettings]) {
        self.pools = pools
        pauses = registry.table(
            labelNames: ["app", "cause"],
            columns: [
                GaugeTable.Column(
                    "waypulse_app_paused",
                    help:
                        "1 while an app's pushes wait for single probes: the provider is sick, or refuses the credential, or token after token."
                )
            ])
        tokens = registry.table(
            labelNames: ["app"],
            columns: [
                GaugeTable.Column(
                    "waypulse_provider_token_age_seconds", unit: .seconds,
                    help: "How long ago the app's provider token was issued; the provider takes it for an hour."),
                GaugeTable.Column(
                    "waypulse_provider_token_renewed_timestamp_seconds", unit: .seconds,
                    help: "When this process last changed the app's provider token, Unix time."),
            ])
    }

    func publish(_ lane: Lane, unixSeconds: Int64) {
        var paused: [GaugeTable.Row] = []
        var ages: [GaugeTable.Row] = []
        for (index, pool) in pools.enumerated() {
            let cause = lane.pauseCause(pool: index)
            for each in Breaker.Cause.allCases {
                paused.append(GaugeTable.Row(labels: [pool.app, each.rawValue], values: [cause == each ? 1 : 0]))
            }
            guard let token = pool.providerToken.status else { continue }
            ages.append(
                GaugeTable.Row(
                    labels: [pool.app], values: [token.ageSeconds, unixSeconds - token.mintedBeforeSeconds]))
        }
        pauses.set(paused)
        tokens.set(ages)
    }
}
