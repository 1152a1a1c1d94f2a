import Flow
import LiveActivities
import Pacing
import PushSimulator
import Synchronization
import Telemetry
import Testing

@testable import Delivery

/// A lane whose pushes a real worker carries over TLS to the simulator: the whole client, but for threads and sources.
///
/// The clocks of lane and phones are the test's, so hours pass at its word; the provider's, by which provider tokens age, is the real one.
/// An activity has a phone of its own, and its id is part of its token.
final class LaneBench {
    let provider: SimulatedProvider
    let lane: Lane
    /// Of all pushes, in the order in which their answers were heard.
    private(set) var completions: [Completion] = []
    private let time: PhoneTime
    private let link: Int
    private var decoder = EventDecoder(apps: [])
    private var body = ByteBuffer()
    private var read = 0
    /// As last heard.
    private var streams = 0

    final class PhoneTime: Sendable {
        private let milliseconds = Mutex<Int64>(0)
        var now: Int64 {
            get { milliseconds.withLock { $0 } }
            set { milliseconds.withLock { $0 = newValue } }
        }
    }

    /// Tokens that no phone has are refused, as APNs does.
    init(
        _ changeSimulator: (inout SimulatorServer.Options) -> Void = { _ in },
        lane changeLane: (inout LaneSettings) -> Void = { _ in },
        delivery changeDelivery: (inout WorkerBench.Setup) -> Void = { _ in }
    ) throws {
        let time = PhoneTime()
        time.now = CredentialClock.real.unixSeconds() * 1_000
        self.time = time
        provider = try SimulatedProvider {
            $0.clock = SimulatorClock { time.now }
            $0.face.unknownTokens = .refuse
            changeSimulator(&$0)
        } delivery: {
            changeDelivery(&$0)
        }
        var settings = LaneSettings(shard: ShardSettings(), types: ActivityTypes())
        changeLane(&settings)
        lane = Lane(settings: settings)
        link = lane.addLink(pool: 0)
    }

    var simulator: SimulatorServer { provider.simulator }
    var now: Int64 { time.now }
    var moment: Moment { Moment(pacing: Instant(milliseconds: now), realMilliseconds: now) }

    // MARK: Events

    static func token(_ activity: String, _ generation: Int = 1) -> String {
        let name = activity.utf8.map { String($0, radix: 16) }.joined()
        return name + String(repeating: "0", count: 126 - name.utf8.count) + "f\(generation % 10)"
    }

    func apply(_ type: String, _ activity: String, _ fields: String = "") throws {
        let place = #"{"type":"\#(type)","activityId":"\#(activity)","timestamp":\#(Double(now) / 1_000)"#
        let bytes = Array("\(place)\(fields.isEmpty ? "" : ",")\(fields)}".utf8)
        try bytes.withUnsafeBytes { bytes in
            let event = try decoder.decode(bytes)
            #expect(lane.apply(event, partition: 0, offset: -1, at: moment).isEmpty)
        }
    }

    /// The app begins it on a phone, and its token is published.
    func begin(_ activity: String, on phone: String? = nil) throws {
        simulator.begin(activity, on: phone ?? activity, updateToken: Self.token(activity))
        try apply(
            "activity.started", activity, #""attributesType":"Ride","token":"\#(Self.token(activity))""#)
    }

    /// A phone is asked to begin it; its app's token has to come from there.
    func start(_ activity: String, startToken: String) throws {
        try apply(
            "activity.started", activity,
            #""attributesType":"Ride","startToken":"\#(startToken)","attributes":{"activityId":"\#(activity)"},"contentState":{"status":"placed"},"alert":{"title":"Placed","body":"now"}"#
        )
    }

    func status(_ activity: String, _ status: String) throws {
        try apply("status", activity, #""status":"\#(status)""#)
    }

    func publish(token: String, _ activity: String) throws {
        try apply("token", activity, #""token":"\#(token)""#)
    }

    // MARK: Turns

    /// What may leave does, and what comes back is heard, until it holds.
    func run(until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        while true {
            dispatch()
            if condition() { return }
            let contents = provider.bench.reports.wait(
                { $0.reports.count > read || condition() }, sourceLocation: sourceLocation)
            guard contents.reports.count > read || condition() else { return }
            hear(contents)
        }
    }

    /// Until all has been answered that may leave now. A breaker that is open lets nothing leave; a pool without a stream is waited for.
    func settle(sourceLocation: SourceLocation = #_sourceLocation) {
        run(
            until: {
                guard lane.inFlightCount == 0 else { return false }
                if case .closed = lane.breakerState(pool: 0) { return !lane.hasReady() }
                return true
            }, sourceLocation: sourceLocation)
    }

    /// The clocks go on; what is due in between fires and leaves.
    func pass(seconds: Int64, sourceLocation: SourceLocation = #_sourceLocation) {
        let end = now + seconds * 1_000
        while true {
            let due = min(
                lane.nextPacingDueMilliseconds ?? .max, lane.nextRealDueMilliseconds(after: now) ?? .max)
            guard due <= end else { break }
            time.now = max(now, due)
            lane.fire(at: moment)
            waitForStream(sourceLocation: sourceLocation)
            settle(sourceLocation: sourceLocation)
        }
        time.now = end
        settle(sourceLocation: sourceLocation)
    }

    /// Phones have told so many tokens, and answers lie unheard.
    func waitForReports(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        let reports = provider.bench.reports
        reports.wait(
            { $0.reports.count > read && simulator.tokenReports.count >= count }, sourceLocation: sourceLocation)
    }

    /// A connection that was sent away is not there again in no time.
    func waitForStream(sourceLocation: SourceLocation = #_sourceLocation) {
        run(until: { streams > 0 }, sourceLocation: sourceLocation)
    }

    func dispatch() {
        var batch = JobBatch()
        while let dispatch = lane.next(at: moment, body: &body) {
            guard let headers = dispatch.headers else {
                Issue.record("\(dispatch.update.activityIdentifier) has no device token")
                return
            }
            batch.add(identifier: dispatch.identifier, pool: 0, headers: headers, body: body.bytes)
        }
        if !batch.isEmpty { provider.bench.worker.submit(&batch) }
    }

    func hear(_ contents: ReportLog.Contents) {
        for report in contents.reports[read...] {
            switch report {
            case .streams(_, let count):
                streams = count
                lane.setStreams(count, link: link)
            case .completed(let identifier, let outcome):
                if let completion = lane.complete(identifier, outcome, at: moment) { completions.append(completion) }
            }
        }
        read = contents.reports.count
    }

    // MARK: What is to be seen

    /// What the phone shows as status under the activity's token.
    func shown(_ activity: String, _ generation: Int = 1) -> String? {
        shown(token: Self.token(activity, generation))
    }

    func shown(token: String) -> String? {
        simulator.phones.activities[token]?.contentState?["status"]?.asString
    }

    /// Requests with that token.
    func entries(_ token: String) -> [JournalEntry] {
        let fingerprint = Fingerprint.of(token: token)
        return simulator.journal.entries.filter { $0.tokenFingerprint == fingerprint }
    }

    var fates: [Completion.Fate] { completions.map(\.fate) }
    var alarms: [Reaction.Alarm] { completions.compactMap(\.alarm) }
}
