import LiveActivities
import Pacing

/// Why an activity was told what it was told, with what its lane knows: answers by their names, breaker, streams, retries, ownership.
public struct LaneExplanation: Sendable {
    public enum Ownership: Equatable, Sendable {
        case sends
        /// Nothing leaves before all is applied that the owner before may have told of.
        case catchingUp
        /// Only what is urgent leaves.
        case draining
        /// The right to send has run out, and was not renewed.
        case lapsed
    }

    public var activity: ActivityExplanation
    public var partition: Int32
    /// The app that its pushes are for; nil where no app is configured.
    public var app: String?
    public var ownership: Ownership
    public var breaker: Breaker.State
    /// On pacing's clock; nil while the breaker is closed, or a probe is out.
    public var probeAtMilliseconds: Int64?
    public var freeStreams: Int
    public var streams: Int
    /// When the content that waits to be sent again may go, on pacing's clock.
    public var retryAtMilliseconds: Int64?
    /// 429 in a row.
    public var throttles: Int
    /// Of its pool, the oldest first.
    public var outages: [Outage]
    var answerNames: [String]

    /// What the provider named, or what happened to the connection; nil where neither said anything.
    public func reason(_ answer: JournalAnswer) -> String? {
        answerNames.indices.contains(answer.reason - 1) ? answerNames[answer.reason - 1] : nil
    }
}

extension Lane {
    /// Why the activity was told what it was told; nil where no shard of this lane has it in memory. It changes nothing.
    ///
    /// - Parameter partition: nil for wherever it lies.
    public func explanation(of activity: String, partition: Int32? = nil, at moment: Moment) -> LaneExplanation? {
        for (index, shard) in shards.enumerated()
        where partition ?? standings[index].partition == standings[index].partition {
            if let explanation = shard.explanation(of: activity, at: moment.pacing) {
                return complete(explanation, shard: index, at: moment)
            }
        }
        return nil
    }

    private func complete(_ activity: ActivityExplanation, shard: Int, at moment: Moment) -> LaneExplanation {
        let number = min(activity.situation.pool, pools.count - 1)
        let pool = pools[number]
        let standing = standings[shard]
        // Retries and probes are due on the real clock.
        func onPacingClock(_ real: Int64) -> Int64 { activity.atMilliseconds + (real - moment.realMilliseconds) }
        let ownership: LaneExplanation.Ownership =
            standing.isCatchingUp
            ? .catchingUp
            : standing.isDraining
                ? .draining : standing.maySend(at: moment.realMilliseconds) ? .sends : .lapsed
        return LaneExplanation(
            activity: activity, partition: standing.partition,
            app: settings.shard.apps.indices.contains(number) ? settings.shard.apps[number] : nil,
            ownership: ownership, breaker: pool.breaker.state,
            probeAtMilliseconds: pool.breaker.nextProbeMilliseconds.map(onPacingClock),
            freeStreams: pool.links.reduce(0) { $0.addingClamped(max(0, $1.freeStreams)) },
            streams: pool.links.reduce(0) { $0.addingClamped($1.streams) },
            retryAtMilliseconds: activity.situation.underWay
                .flatMap { pool.retries.notBefore($0.ticket, shard: shard) }.map(onPacingClock),
            throttles: throttles[activity.activityIdentifier]?.count ?? 0, outages: pool.outages.outages,
            answerNames: answerNames.names)
    }

    // MARK: What answers leave behind

    func explain(_ completion: Completion, _ outcome: DispatchOutcome, at moment: Moment) {
        guard journal != nil else { return }
        var status = 0
        var name: String?
        switch outcome {
        case .answered(let answer, _): (status, name) = (answer.status, answer.reason?.name)
        case .signalled(let signal): name = signal.label
        case .unsent: break
        }
        if let change = completion.breaker {
            pools[completion.dispatch.pool].outages.note(
                change, because: name ?? "status \(status)", atMilliseconds: moment.pacing.nowMilliseconds)
        }
        guard let (fate, hold) = completion.fate.explained else { return }
        let update = completion.update
        shards[completion.dispatch.shard].noteAnswer(
            update,
            JournalAnswer(
                fate: fate, sequence: update.sequence, attempt: update.attempt, status: status,
                reason: answerNames.number(of: name),
                tookMilliseconds: max(0, moment.pacing.nowMilliseconds - update.takenAt.nowMilliseconds),
                holdMilliseconds: hold), at: moment.pacing)
    }

    func explain(_ update: Update, shard: Int, unpushable name: String, at moment: Moment) {
        guard journal != nil else { return }
        shards[shard].noteAnswer(
            update,
            JournalAnswer(
                fate: .unpushable, sequence: update.sequence, attempt: update.attempt,
                reason: answerNames.number(of: name), tookMilliseconds: 0), at: moment.pacing)
    }
}

extension Completion.Fate {
    /// Nil where the activity is another owner's by now.
    fileprivate var explained: (JournalAnswer.Fate, holdMilliseconds: Int64)? {
        switch self {
        case .accepted: (.accepted, 0)
        case .refused: (.refused, 0)
        case .targetGone: (.targetGone, 0)
        case .held(let milliseconds): (.held, milliseconds)
        case .sendAgain: (.sendAgain, 0)
        case .startUnknown: (.startUnknown, 0)
        case .unsent: (.unsent, 0)
        case .orphaned: nil
        }
    }
}

extension Int {
    /// A plan has streams without end.
    fileprivate func addingClamped(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
