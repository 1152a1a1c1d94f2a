import HTTP1
import Instruments
import Synchronization

/// Streams of states: whoever follows an activity is told of each change of it.
///
/// The service is asked once a second for each activity that somebody follows, however many do. So a change may be told a second late, and
/// changes within a second are told as one: the newest is all that a screen needs.
final class StateWatch: Sendable {
    private struct Watcher {
        let stream: HTTPStream
        let key: APIKey
        var tag: String
        var writtenAtMilliseconds: Int64
    }

    private struct Watched {
        var watchers: [UInt64: Watcher] = [:]
        /// When the service was asked, while its answer is awaited.
        var askedAtMilliseconds: Int64?
    }

    private struct State {
        var byActivity: [String: Watched] = [:]
        var nextIdentifier: UInt64 = 0
        var open = 0
        var generation = 0
    }

    /// How often a stream says something even if nothing changes, so that neither side takes the other for gone.
    static let heartbeatMilliseconds: Int64 = 15_000
    /// An answer that has not come by then is not waited for any more.
    private static let patienceMilliseconds: Int64 = 10_000
    static let heartbeat = Array(": nothing new\n\n".utf8)
    static let gone = Array("event: gone\ndata: {}\n\n".utf8)

    private let desk: any ActivityDesk
    private let keys: KeyRing
    private let limit: Int
    private let questions: Counter<Route>
    private let state = Mutex(State())

    init(desk: any ActivityDesk, keys: KeyRing, limit: Int, questions: Counter<Route>) {
        self.desk = desk
        self.keys = keys
        self.limit = limit
        self.questions = questions
        state.withLock { $0.generation = keys.generation }
    }

    var open: Int { state.withLock { $0.open } }

    /// Takes a place for a stream, if there is one; `release` or the stream's end gives it back.
    func reserve() -> Bool {
        state.withLock { state in
            guard state.open < limit else { return false }
            state.open += 1
            return true
        }
    }

    func release() { state.withLock { $0.open -= 1 } }

    /// Begins a stream in a place that was reserved.
    ///
    /// - Parameter lastEvent: the id of the last event that the client had before.
    func begin(
        _ activity: String, _ document: StateDocument, for key: APIKey, lastEvent: String?, on responder: HTTPResponder,
        nowMilliseconds: Int64
    ) {
        let identifier = state.withLock { state in
            state.nextIdentifier += 1
            return state.nextIdentifier
        }
        var first = Array("retry: 3000\n\n".utf8)
        if !document.isEvent(lastEvent) { first += document.event }
        let head = HTTPResponse(
            contentType: "text/event-stream",
            headers: [HTTPField("Cache-Control", "no-store"), HTTPField("X-Accel-Buffering", "no")], body: first)
        guard let stream = responder.stream(head, whenOver: { [weak self] in self?.end(activity, identifier) }) else {
            return release()
        }
        if document.hasEnded { return stream.end() }
        let watcher = Watcher(stream: stream, key: key, tag: document.tag, writtenAtMilliseconds: nowMilliseconds)
        state.withLock { $0.byActivity[activity, default: Watched()].watchers[identifier] = watcher }
        // It may have gone before it stood in the table, when its end found nothing to remove.
        if !stream.isOpen { forget(activity, identifier) }
    }

    private func end(_ activity: String, _ identifier: UInt64) {
        release()
        forget(activity, identifier)
    }

    private func forget(_ activity: String, _ identifier: UInt64) {
        state.withLock { state in
            guard state.byActivity[activity]?.watchers.removeValue(forKey: identifier) != nil else { return }
            if state.byActivity[activity]?.watchers.isEmpty == true { state.byActivity[activity] = nil }
        }
    }

    /// Once a second.
    func tick(nowMilliseconds now: Int64) {
        endRevoked()
        let (toAsk, silent) = state.withLock { state in
            var toAsk: [String] = []
            var silent: [HTTPStream] = []
            for activity in Array(state.byActivity.keys) {
                for (identifier, watcher) in state.byActivity[activity]!.watchers
                where now - watcher.writtenAtMilliseconds >= StateWatch.heartbeatMilliseconds {
                    silent.append(watcher.stream)
                    state.byActivity[activity]!.watchers[identifier]!.writtenAtMilliseconds = now
                }
                if let asked = state.byActivity[activity]!.askedAtMilliseconds,
                    now - asked < StateWatch.patienceMilliseconds
                {
                    continue
                }
                state.byActivity[activity]!.askedAtMilliseconds = now
                toAsk.append(activity)
            }
            return (toAsk, silent)
        }
        for stream in silent { stream.write(StateWatch.heartbeat) }
        for activity in toAsk {
            questions.add(1, .stateStream)
            desk.state(of: activity) { [weak self] in self?.tell(activity, $0, nowMilliseconds: now) }
        }
    }

    private func tell(_ activity: String, _ outcome: StateOutcome, nowMilliseconds: Int64) {
        let document: StateDocument? = if case .known(let view) = outcome { StateDocument(view) } else { nil }
        let isUnknown = outcome == .unknown
        let streams = state.withLock { state -> [HTTPStream] in
            state.byActivity[activity]?.askedAtMilliseconds = nil
            guard let watched = state.byActivity[activity] else { return [] }
            if isUnknown { return watched.watchers.values.map(\.stream) }
            guard let document else { return [] }
            return watched.watchers.compactMap { identifier, watcher in
                guard watcher.tag != document.tag else { return nil }
                state.byActivity[activity]!.watchers[identifier]!.tag = document.tag
                state.byActivity[activity]!.watchers[identifier]!.writtenAtMilliseconds = nowMilliseconds
                return watcher.stream
            }
        }
        for stream in streams {
            stream.write(document?.event ?? StateWatch.gone)
            if isUnknown || document?.hasEnded == true { stream.end() }
        }
    }

    /// Keys that were taken away close what they had opened.
    private func endRevoked() {
        let generation = keys.generation
        let watchers = state.withLock { state -> [Watcher] in
            guard state.generation != generation else { return [] }
            state.generation = generation
            return state.byActivity.values.flatMap { $0.watchers.values }
        }
        for watcher in watchers where !keys.stillOpens(watcher.key, .stateRead) { watcher.stream.end() }
    }
}
