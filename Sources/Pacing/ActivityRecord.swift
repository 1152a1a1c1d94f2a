import Telemetry

/// The part of an activity that the position path inside the deadband does not touch: where it lies, and how to read and write it.
///
/// It is good as long as its activity: nothing may keep one across a call that could remove that.
struct ActivityRecord {
    let stored: UnsafeMutablePointer<StoredRecord>
    /// Lives as long as the shard, and so longer than any record.
    unowned(unsafe) let vocabulary: Vocabulary

    // What it is.

    var attributesType: String? {
        get {
            switch stored.pointee.attributesType {
            case Vocabulary.none: nil
            case Vocabulary.apart: stored.pointee.extras?.attributesType
            case let place: vocabulary.type(place)
            }
        }
        nonmutating set {
            let place = newValue.map { vocabulary.place(ofType: $0) } ?? Vocabulary.none
            stored.pointee.attributesType = place
            let apart = place == Vocabulary.apart ? newValue : nil
            if apart != nil || stored.pointee.extras != nil { extras.attributesType = apart }
        }
    }

    var attributes: JSONObject? {
        get { stored.pointee.extras?.attributes }
        nonmutating set { if newValue != nil || stored.pointee.extras != nil { extras.attributes = newValue } }
    }

    var relevanceScore: Double? {
        get { stored.pointee.extras?.relevanceScore }
        nonmutating set { if newValue != nil || stored.pointee.extras != nil { extras.relevanceScore = newValue } }
    }

    /// Index of the subject that it follows.
    var subject: UInt32? {
        get { stored.pointee.subject == ActivitySlab.noIndex ? nil : stored.pointee.subject }
        nonmutating set { stored.pointee.subject = newValue ?? ActivitySlab.noIndex }
    }

    // This life.

    /// How many came before.
    var life: UInt32 {
        get { stored.pointee.extras?.life ?? 0 }
        nonmutating set { extras.life = newValue }
    }

    /// Nil while an activity that is to be begun by push was not sent; after the end nobody asks.
    var lifeStartMilliseconds: Int64? {
        get { self[.isOver] ? nil : stored.pointee.life.known }
        nonmutating set { if !self[.isOver] { stored.pointee.life = newValue.map(Int48.init) ?? .min } }
    }

    /// Of its end, its send, or an event that came after: it leaves memory so long after the last of them. `Int64.min` while it lives.
    var lastOfEndMilliseconds: Int64 { self[.isOver] ? stored.pointee.life.value : .min }

    func noteEnd(atMilliseconds now: Int64) {
        stored.pointee.life = Int48(max(now, lastOfEndMilliseconds))
        self[.isOver] = true
    }

    var beganOnPhone: Bool {
        get { self[.beganOnPhone] }
        nonmutating set { self[.beganOnPhone] = newValue }
    }

    var lacksStart: Bool {
        get { self[.lacksStart] }
        nonmutating set { self[.lacksStart] = newValue }
    }

    var hasBeenSent: Bool {
        get { self[.hasBeenSent] }
        nonmutating set { self[.hasBeenSent] = newValue }
    }

    var hadTarget: Bool {
        get { self[.hadTarget] }
        nonmutating set { self[.hadTarget] = newValue }
    }

    var isTargetAssumed: Bool {
        get { self[.isTargetAssumed] }
        nonmutating set { self[.isTargetAssumed] = newValue }
    }

    // The newest truth, and what the phone was told.

    var latestContent: ContentState {
        get { stored.pointee.latestContent }
        nonmutating set { stored.pointee.latestContent = newValue }
    }

    var shownContent: ContentState {
        get { stored.pointee.shownContent }
        nonmutating set { stored.pointee.shownContent = newValue }
    }

    var hasShown: Bool {
        get { self[.hasShown] }
        nonmutating set { self[.hasShown] = newValue }
    }

    var latestSpeed: Double {
        get { stored.pointee.extras?.motion?.latestSpeed ?? .nan }
        nonmutating set { if !newValue.isNaN || hasMotion { motion.latestSpeed = newValue } }
    }

    var latestHeading: Double {
        get { stored.pointee.extras?.motion?.latestHeading ?? .nan }
        nonmutating set { if !newValue.isNaN || hasMotion { motion.latestHeading = newValue } }
    }

    var shownSpeed: Double {
        get { stored.pointee.extras?.motion?.shownSpeed ?? .nan }
        nonmutating set { if !newValue.isNaN || hasMotion { motion.shownSpeed = newValue } }
    }

    var shownHeading: Double {
        get { stored.pointee.extras?.motion?.shownHeading ?? .nan }
        nonmutating set { if !newValue.isNaN || hasMotion { motion.shownHeading = newValue } }
    }

    /// `Int64.min` where rules do not write it.
    var shownTimestampMilliseconds: Int64 {
        get { stored.pointee.extras?.motion?.shownTimestampMilliseconds ?? .min }
        nonmutating set { if newValue != .min || hasMotion { motion.shownTimestampMilliseconds = newValue } }
    }

    /// Fields that a `status` or `activity.started` set since the last send.
    var setFields: [FieldPath] {
        get {
            switch stored.pointee.setFields {
            case Vocabulary.none: []
            case Vocabulary.apart: stored.pointee.extras?.setFields ?? []
            case let place: vocabulary.fields(place)
            }
        }
        nonmutating set {
            let place = vocabulary.place(ofFields: newValue)
            stored.pointee.setFields = place
            let apart = place == Vocabulary.apart ? newValue : []
            if !apart.isEmpty || stored.pointee.extras != nil { extras.setFields = apart }
        }
    }

    /// Of `latestContent` and `shownContent`, with the position parts for which it holds; nil where one of them has changed.
    var difference: (value: ContentDifference, written: PositionSources)? {
        get { self[.hasDifference] ? (stored.pointee.difference, stored.pointee.differenceWritten) : nil }
        nonmutating set {
            self[.hasDifference] = newValue != nil
            guard let newValue else { return }
            stored.pointee.difference = newValue.value
            stored.pointee.differenceWritten = newValue.written
        }
    }

    // Sending.

    var sequence: UInt64 {
        get { UInt64(stored.pointee.sequence) }
        nonmutating set { stored.pointee.sequence = UInt32(newValue) }
    }

    var lastTimestampSeconds: Int64 {
        get { stored.pointee.lastTimestampSeconds == 0 ? .min : Int64(stored.pointee.lastTimestampSeconds) }
        nonmutating set { stored.pointee.lastTimestampSeconds = UInt32(clamping: newValue) }
    }

    var lastSentAtMilliseconds: Int64? {
        get { stored.pointee.lastSentAt.known }
        nonmutating set { stored.pointee.lastSentAt = newValue.map(Int48.init) ?? .min }
    }

    var bucket: CadenceBucket {
        get { stored.pointee.bucket }
        nonmutating _modify { yield &stored.pointee.bucket }
    }

    var frequentUpdates: Bool {
        get { self[.frequentUpdates] }
        nonmutating set { self[.frequentUpdates] = newValue }
    }

    /// One that was known stays so when another takes its place.
    var target: PushTarget? {
        get { stored.pointee.target }
        nonmutating set {
            if self[.knowsTarget], let named = stored.pointee.target?.asNamed {
                extras.knownTargets.insert(vocabulary.hash(of: named))
            }
            self[.knowsTarget] = false
            stored.pointee.target = newValue
        }
    }

    func knows(_ target: StartTarget) -> Bool {
        if self[.knowsTarget], stored.pointee.target == target.asTarget { return true }
        return stored.pointee.extras?.knownTargets.contains(vocabulary.hash(of: target)) ?? false
    }

    func noteKnown(_ target: StartTarget) {
        if knows(target) { return }
        // The usual case, an activity with one target for ever, needs no memory for it.
        if let own = target.asTarget, stored.pointee.target == own {
            self[.knowsTarget] = true
        } else {
            extras.knownTargets.insert(vocabulary.hash(of: target))
        }
    }

    var targetRegisteredAtMilliseconds: Int64 {
        get { stored.pointee.targetRegisteredAt.value }
        nonmutating set { stored.pointee.targetRegisteredAt = Int48(newValue) }
    }

    var renewalStartToken: PushToken? {
        get { stored.pointee.extras?.renewal?.startToken }
        nonmutating set { if newValue != nil || hasRenewal { renewal.startToken = newValue } }
    }

    /// Kept for renewal, where settings ask for it.
    var renewalAlert: Alert? {
        get { stored.pointee.extras?.renewal?.alert }
        nonmutating set { if newValue != nil || hasRenewal { renewal.alert = newValue } }
    }

    // Where it lies.

    subscript(flag: StoredRecord.Flags) -> Bool {
        get { stored.pointee.flags.contains(flag) }
        nonmutating set {
            if newValue { stored.pointee.flags.insert(flag) } else { stored.pointee.flags.remove(flag) }
        }
    }

    var extras: ActivityExtras {
        if let extras = stored.pointee.extras { return extras }
        let extras = ActivityExtras()
        stored.pointee.extras = extras
        return extras
    }

    private var hasRenewal: Bool { stored.pointee.extras?.renewal != nil }
    private var renewal: Renewal {
        if let renewal = stored.pointee.extras?.renewal { return renewal }
        let renewal = Renewal()
        extras.renewal = renewal
        return renewal
    }

    private var hasMotion: Bool { stored.pointee.extras?.motion != nil }
    private var motion: Motion {
        if let motion = stored.pointee.extras?.motion { return motion }
        let motion = Motion()
        extras.motion = motion
        return motion
    }
}
