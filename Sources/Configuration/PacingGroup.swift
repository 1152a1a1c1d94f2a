/// When an update is sent. Each may be set again for an attributes type.
public struct PacingGroup: Sendable {
    public let deadbandMeters = Option.number(
        "pacing.deadbandMeters", standard: "75", in: Bounds.earthMeters, scope: .overridable,
        "How far the position must be from the one last sent before an update is worth a push.")
    public let accuracyAware = Option.flag(
        "pacing.accuracyAware", standard: true, scope: .overridable,
        "Widen the deadband to the sum of both positions' accuracies, so that jitter is not sent as movement.")
    public let deadbandCeilingMeters = Option.number(
        "pacing.deadbandCeilingMeters", standard: "200", in: Bounds.earthMeters, scope: .overridable,
        "The widest that accuracyAware may make the deadband.")
    public let tolerances = Option.numbers(
        "pacing.tolerances", standard: "etaTimestamp=60,progressPercentage=0.05", each: Bounds.atLeastZero,
        scope: .overridable,
        "Numeric content-state fields, by dotted path, with the change that is worth a push. Replaces the default as a whole."
    )
    public let discrete = Option.list(
        "pacing.discrete", standard: "status", scope: .overridable,
        "Content-state fields whose every change is urgent.")
    public let positionFields = Option.namesOrOff(
        "pacing.positionFields", standard: "latitude=latitude,longitude=longitude",
        keys: ["latitude", "longitude", "accuracy", "speed", "heading", "positionTimestamp"], scope: .overridable,
        "Which values of the newest position are written into the content-state, as source: field; off writes none.")
    public let sequenceField = Option.text(
        "pacing.sequenceField", standard: "sequenceNumber", .fieldPath, scope: .overridable,
        "The content-state field that takes the activity's strictly increasing sequence number.")
    public let minInterval = Option.duration(
        "pacing.minInterval", standard: "15s", in: Bounds.duration, scope: .overridable,
        "The least time between routine updates of one activity.")
    public let urgentMinInterval = Option.duration(
        "pacing.urgentMinInterval", standard: "5s", in: Bounds.duration, scope: .overridable,
        "The least time after the last send for an urgent update whose activity has overdrawn its cadence in full.")
    public let profile = Option.choice(
        "pacing.profile", standard: "auto", of: ["auto", "standard", "frequent", "unlimited"], scope: .overridable,
        "The cadence: standard is a burst of 4 and one update a minute, frequent a burst of 8 and one each 15 s, unlimited "
            + "no limit; auto is frequent where the device reports frequent updates enabled, else standard.")
    public let refresh = Option.flag(
        "pacing.refresh", standard: true, scope: .overridable,
        "Send an update shortly before the shown state goes stale, if any event came since.")
    public let staleAfter = Option.duration(
        "pacing.staleAfter", standard: "180s", in: Bounds.positiveDuration, scope: .overridable,
        "When the phone shows a state as stale: the stale-date is the send time plus this.")
    public let refreshLead = Option.duration(
        "pacing.refreshLead", standard: "30s", in: Bounds.duration, scope: .overridable,
        "How long before the stale-date a refresh is due.")
    public let maxAccuracyMeters = Option.number(
        "pacing.maxAccuracyMeters", standard: "200", in: Bounds.positive, scope: .overridable,
        "Positions less accurate than this are dropped.")
    public let maxSpeedMetersPerSecond = Option.number(
        "pacing.maxSpeedMetersPerSecond", standard: "100", in: Bounds.positive, scope: .overridable,
        "A position that would need a higher speed is held aside until the next one confirms it.")
    public let reanchorAfter = Option.duration(
        "pacing.reanchorAfter", standard: "120s", in: Bounds.duration, scope: .overridable,
        "After this much event time without a taken position the next is taken whatever its speed.")
    public let maxAge = Option.duration(
        "pacing.maxAge", standard: "1h", in: Bounds.positiveDuration, scope: .overridable,
        "Positions older than this are dropped.")
    public let maxFuture = Option.duration(
        "pacing.maxFuture", standard: "60s", in: Bounds.duration, scope: .overridable,
        "Positions further ahead of the clock than this are dropped.")
    public let allowNullIsland = Option.flag(
        "pacing.allowNullIsland", standard: false, scope: .overridable,
        "Take positions at exactly (0, 0), which most receivers report when they have none.")
    public let autoStart = Option.flag(
        "pacing.autoStart", standard: true, scope: .overridable,
        "Begin an activity at its first event, even without an activity.started.")
    public let maxActivityLife = Option.durationOrOff(
        "pacing.maxActivityLife", standard: "8h", in: Bounds.positiveDuration, scope: .overridable,
        "When an activity is ended (or renewed); the phone ends it after 8 hours by itself. off never ends one.")
    public let renew = Option.flag(
        "pacing.renew", standard: false, scope: .overridable,
        "At maxActivityLife renew the activity through its start token instead of ending it.")
    public let startBudget = Option.integer(
        "pacing.startBudget", standard: 10, in: 1...1_000_000,
        "How many starts by push one push-to-start token is sent in startBudgetWindow; more would be dropped by the phone, and wait."
    )
    public let startBudgetWindow = Option.duration(
        "pacing.startBudgetWindow", standard: "1h", in: Bounds.positiveDuration,
        "The time in which startBudget counts. Apple publishes neither; about ten in short order have been reported.")
    public let removeAfter = Option.duration(
        "pacing.removeAfter", standard: "12h", in: Bounds.positiveDuration, scope: .overridable,
        "How long after its end an activity is remembered, so that late events do not begin it anew.")
}
