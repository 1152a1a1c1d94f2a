import Configuration
import Delivery
import Flow
import Instruments

extension Pace {
    /// `source.speed`.
    public init(_ configuration: Configuration) {
        self = configuration[Options.source.speed].map { .times($0) } ?? .max
    }
}

extension RunSettings {
    /// - Throws: a setting that is wrong: a schema, a key, an authority file.
    public init(_ configuration: Configuration, pace: Pace) throws {
        self.init(
            lane: try LaneSettings(configuration, planTargets: false, seed: UInt64.random(in: .min ... .max)),
            pace: pace,
            pools: try PoolSettings.all(configuration), delivery: DeliveryOptions(configuration))
        workers = configuration[Options.delivery.workers]
        drainTimeoutMilliseconds = configuration.drainTimeoutMilliseconds
        deadLetters = DeadLetterSettings(configuration)
        feedback = FeedbackSettings(configuration)
    }
}
