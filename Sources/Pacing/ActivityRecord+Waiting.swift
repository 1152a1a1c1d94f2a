import Telemetry

/// What is to be told, and what stands in its way: most of it lies in an object that exists meanwhile.
extension ActivityRecord {
    var waiting: Contributions {
        get { pendingIfAny?.waiting ?? Contributions() }
        nonmutating _modify { yield &pending.waiting }
    }

    var waitingIsUrgent: Bool {
        get { self[.waitingIsUrgent] }
        nonmutating set { self[.waitingIsUrgent] = newValue }
    }

    var waitingThresholdMeters: Double {
        get { pendingIfAny?.thresholdMeters ?? .infinity }
        nonmutating set { pending.thresholdMeters = newValue }
    }

    var gateOpensAtMilliseconds: Int64? {
        get { pendingIfAny?.gateOpensAtMilliseconds }
        nonmutating set { if newValue != nil || hasPending { pending.gateOpensAtMilliseconds = newValue } }
    }

    var readySinceMilliseconds: Int64 {
        get { pendingIfAny?.readySinceMilliseconds ?? 0 }
        nonmutating set { pending.readySinceMilliseconds = newValue }
    }

    var alert: Alert? {
        get { pendingIfAny?.alert }
        nonmutating set { if newValue != nil || hasPending { pending.alert = newValue } }
    }

    var dismissal: Dismissal? {
        get { pendingIfAny?.dismissal }
        nonmutating set { if newValue != nil || hasPending { pending.dismissal = newValue } }
    }

    var flight: Flight? {
        get { pendingIfAny?.flight }
        nonmutating set { if newValue != nil || hasPending { pending.flight = newValue } }
    }

    var held: HeldPosition? {
        get { pendingIfAny?.held }
        nonmutating set { if newValue != nil || hasPending { pending.held = newValue } }
    }

    /// The target that the provider called dead, until another takes its place.
    var goneTarget: PushTarget? {
        get { pendingIfAny?.goneTarget }
        nonmutating set { if newValue != nil || hasPending { pending.goneTarget = newValue } }
    }

    var quiet: Contributions {
        get { pendingIfAny?.quiet ?? Contributions() }
        nonmutating _modify { yield &pending.quiet }
        nonmutating set { if !newValue.isEmpty || hasPending { pending.quiet = newValue } }
    }

    var queuedHolds: UInt8 {
        get { pendingIfAny?.queuedHolds ?? 0 }
        nonmutating set { pending.queuedHolds = newValue }
    }

    var startNote: StartNote {
        get { pendingIfAny?.startNote ?? .none }
        nonmutating set { if newValue != .none || hasPending { pending.startNote = newValue } }
    }

    func noteSaved(through first: Int64, others: [Int64]) {
        if hasPending { pending.noteSaved(through: first, others: others) }
    }

    func lowerSaved(to offset: Int64, source: UInt8) {
        if hasPending { pending.lowerSaved(to: offset, source: source) }
    }

    var isStarting: Bool {
        get { self[.isStarting] }
        nonmutating set { self[.isStarting] = newValue }
    }

    var isEnding: Bool {
        get { self[.isEnding] }
        nonmutating set { self[.isEnding] = newValue }
    }

    var isRetargeting: Bool {
        get { self[.isRetargeting] }
        nonmutating set { self[.isRetargeting] = newValue }
    }

    private var pendingIfAny: PendingUpdate? { stored.pointee.extras?.pending }
    private var hasPending: Bool { pendingIfAny != nil }
    private var pending: PendingUpdate {
        if let pending = pendingIfAny { return pending }
        let pending = PendingUpdate()
        extras.pending = pending
        return pending
    }
}
