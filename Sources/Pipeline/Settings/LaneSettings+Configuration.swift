import Configuration
import Flow
import LiveActivities
import Pacing

extension LaneSettings {
    /// - Parameters:
    ///   - planTargets: whether an activity that nobody gave a target is taken to have one.
    ///   - seed: of jitter and of the hash of ids.
    public init(_ configuration: Configuration, planTargets: Bool, seed: UInt64) throws(SettingFault) {
        let types = try ActivityTypes(configuration)
        var byAttributesType: [String: PacingSettings] = [:]
        for name in configuration.attributesTypes {
            byAttributesType[name] = PacingSettings(configuration, attributesType: name)
        }
        self.init(
            shard: ShardSettings(
                default: PacingSettings(configuration), byAttributesType: byAttributesType, apps: configuration.apps,
                planTargets: planTargets, hashSeed: seed,
                check: { types[$0].fault(inMerged: $1) },
                checkAttributes: { types[$0].fault(inAttributes: $1) }),
            types: types)
        self.seed = seed
        startBudget = StartBudget(
            starts: configuration[Options.pacing.startBudget],
            windowMilliseconds: configuration[Options.pacing.startBudgetWindow])
        let delivery = Options.delivery
        reactions.serverErrorHoldMilliseconds = configuration[delivery.serverErrorHold]
        breaker.firstProbeMilliseconds = configuration[delivery.probeDelay]
        breaker.longestServerProbeMilliseconds = max(
            configuration[delivery.serverErrorHold], configuration[delivery.probeDelay])
    }
}
