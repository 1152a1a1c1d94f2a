import Flow
import LiveActivities
import Pacing
import Streams

/// What is to be told, as the run's thread leaves it: the push itself, which is there anyway. Everything that costs, above all hashing, is done
/// by whoever writes it.
struct FeedbackNote: Sendable {
    enum Subject: Sendable {
        case push(Dispatch, ProviderAnswer?)
        /// It never became a push.
        case unpushable(Unpushable)
        case untoldEnd(UntoldEnd, partition: Int32)
    }

    let kind: FeedbackEvent.Kind
    let subject: Subject
    /// Unix time.
    let atMilliseconds: Int64

    var partition: Int32 {
        switch subject {
        case .push(let dispatch, _): dispatch.partition
        case .unpushable(let refused): refused.partition
        case .untoldEnd(_, let partition): partition
        }
    }

    /// - Parameter apps: by pool.
    func event(apps: [String]) -> FeedbackEvent {
        func app(_ pool: Int) -> String { apps.indices.contains(pool) ? apps[pool] : "" }
        switch subject {
        case .push(let dispatch, let answer):
            var event = event(of: dispatch.update, app: app(dispatch.pool))
            event.status = answer?.status
            event.reason = answer?.reason?.name
            if kind == .activityEnded { event.outcome = answer?.isAccepted == true ? .accepted : .refused }
            if kind == .tokenGone { event.goneAtMilliseconds = goneAt(dispatch.update, answer) }
            return event
        case .unpushable(let refused):
            var event = event(of: refused.update, app: app(refused.update.pool))
            event.reason = refused.name
            if kind == .activityEnded { event.outcome = .unsendable }
            return event
        case .untoldEnd(let end, _):
            var event = FeedbackEvent(
                kind, activityIdentifier: end.activityIdentifier, app: app(end.pool),
                timestampMilliseconds: atMilliseconds)
            event.event = "end"
            event.reason = end.reason.rawValue
            event.outcome = .unsendable
            event.target = end.target
            event.registeredAtMilliseconds = end.targetRegisteredAtMilliseconds
            return event
        }
    }

    private func event(of update: Update, app: String) -> FeedbackEvent {
        var event = FeedbackEvent(
            kind, activityIdentifier: update.activityIdentifier, app: app, timestampMilliseconds: atMilliseconds)
        event.event =
            switch update.kind {
            case .start: "start"
            case .update: "update"
            case .end: "end"
            }
        event.sequence = update.sequence
        event.apnsIdentifier = update.apnsIdentifier
        event.target = update.target
        event.registeredAtMilliseconds = update.targetRegisteredAtMilliseconds
        return event
    }

    /// APNs' own time where it names one. Else what was registered until the push was made: and never less than the registration that was
    /// forgotten, whatever the clock of the app says.
    private func goneAt(_ update: Update, _ answer: ProviderAnswer?) -> Int64 {
        if answer?.status == 410, let milliseconds = answer?.timestampMilliseconds { return milliseconds }
        return max(update.takenAt.wallMilliseconds, update.targetRegisteredAtMilliseconds)
    }
}
