import Glibc
import Synchronization
import Telemetry

/// The app on the phones, as far as its server knows it: each token that a phone gets is sent there, in order, again and again until it is
/// taken or refused for good.
public final class AppBackend: Sendable {
    public struct Options: Sendable {
        /// `http://host:port`: the paths of Waypulse's own API are used. With `{activityId}` in it the whole address of update tokens.
        public var address: String
        /// Sent as `authorization: Bearer …`; nil sends none.
        public var key: String?
        /// Called on the back end's thread with a line for people, once a change of state.
        public var onChange: (@Sendable (String) -> Void)?

        public init(address: String, key: String? = nil) {
            self.address = address
            self.key = key
        }
    }

    public struct Counts: Sendable, Equatable {
        public internal(set) var taken = 0
        public internal(set) var refused = 0
        public internal(set) var failed = 0
        /// Let go, since too many waited.
        public internal(set) var dropped = 0
    }

    private struct State {
        var waiting: [PhoneModel.TokenReport] = []
        var counts = Counts()
        var isStopped = false
        var isBroken = false
    }

    static let maxWaiting = 10_000
    /// For each step of an exchange; a stop waits for the one that is under way.
    static let timeoutSeconds = 3
    static let firstPauseMilliseconds: Int64 = 250
    static let longestPauseMilliseconds: Int64 = 30_000

    private let options: Options
    private let place: PlainHTTP.Place
    private let state = Mutex(State())
    // A POSIX semaphore has one address for life, which a Swift property does not promise.
    private nonisolated(unsafe) let wakeup = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private let thread = Mutex<pthread_t?>(nil)

    init(_ options: Options) throws(SimulatorFault) {
        self.options = options
        do {
            place = try PlainHTTP.Place(AppBackend.withoutBraces(options.address))
        } catch {
            throw SimulatorFault(problem: "the app's back end: \(error.problem)")
        }
        sem_init(wakeup, 0, 0)
        var new = pthread_t()
        let code = pthread_create(
            &new, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<AppBackend>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        guard code == 0 else {
            Unmanaged.passUnretained(self).release()
            throw SimulatorFault(problem: "no thread for the app's back end: \(String(cString: strerror(code)))")
        }
        thread.withLock { $0 = new }
    }

    deinit {
        sem_destroy(wakeup)
        wakeup.deallocate()
    }

    public var counts: Counts { state.withLock(\.counts) }

    func tell(_ report: PhoneModel.TokenReport) {
        // An app knows its activities; where a token was adopted, nobody here does.
        guard report.kind == .start || report.activityIdentifier != nil else { return }
        state.withLock { state in
            if state.waiting.count >= AppBackend.maxWaiting {
                state.waiting.removeFirst()
                state.counts.dropped += 1
            }
            state.waiting.append(report)
        }
        sem_post(wakeup)
    }

    /// What waits is let go. Returns when the thread has ended: after the exchange that is under way.
    func stop() {
        state.withLock { $0.isStopped = true }
        sem_post(wakeup)
        let ended = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let ended { pthread_join(ended, nil) }
    }

    // MARK: - On its thread

    private func run() {
        var pauseMilliseconds = AppBackend.firstPauseMilliseconds
        while !state.withLock(\.isStopped) {
            guard let report = state.withLock({ $0.waiting.first }) else {
                while sem_wait(wakeup) != 0 {}
                continue
            }
            if settle(report) {
                pauseMilliseconds = AppBackend.firstPauseMilliseconds
                continue
            }
            pause(pauseMilliseconds)
            pauseMilliseconds = min(2 * pauseMilliseconds, AppBackend.longestPauseMilliseconds)
        }
    }

    /// - Returns: whether it is done with.
    private func settle(_ report: PhoneModel.TokenReport) -> Bool {
        var problem: String
        do throws(PlainHTTP.Fault) {
            let answer = try PlainHTTP.send(
                "PUT", target(of: report), to: place,
                fields: ["content-type: application/json"]
                    + (options.key.map { ["authorization: Bearer \($0)"] } ?? []),
                body: AppBackend.body(of: report), timeoutSeconds: AppBackend.timeoutSeconds)
            switch answer.status {
            case 200...299:
                end(report) { $0.taken += 1 }
                change(isBroken: false, "takes tokens")
                return true
            case 408, 429, 500...599: problem = "answers \(answer.status)"
            default:
                end(report) { $0.refused += 1 }
                change(isBroken: true, "refuses a token with \(answer.status): \(AppBackend.excerpt(answer.body))")
                return true
            }
        } catch {
            problem = error.problem
        }
        state.withLock { $0.counts.failed += 1 }
        change(isBroken: true, problem + "; it is tried again")
        return false
    }

    private func end(_ report: PhoneModel.TokenReport, _ count: (inout Counts) -> Void) {
        state.withLock { state in
            count(&state.counts)
            // While it was under way it may have been let go.
            if state.waiting.first == report { state.waiting.removeFirst() }
        }
    }

    private func change(isBroken: Bool, _ text: String) {
        let hasChanged = state.withLock { state in
            defer { state.isBroken = isBroken }
            return state.isBroken != isBroken
        }
        if hasChanged { options.onChange?("the app's back end \(text)") }
    }

    private func pause(_ milliseconds: Int64) {
        var until = timespec()
        clock_gettime(CLOCK_REALTIME, &until)
        let nanoseconds = until.tv_nsec + Int(milliseconds % 1_000) * 1_000_000
        until.tv_sec += Int(milliseconds / 1_000) + nanoseconds / 1_000_000_000
        until.tv_nsec = nanoseconds % 1_000_000_000
        // A token that comes does not end the pause; a stop does.
        while !state.withLock(\.isStopped), sem_timedwait(wakeup, &until) == 0 || errno == EINTR {}
    }

    // MARK: - Texts

    private static let placeholder = "{activityId}"

    private static func withoutBraces(_ address: String) -> String {
        guard let range = address.firstRange(of: placeholder) else { return address }
        return address.replacingCharacters(in: range, with: "-")
    }

    private func target(of report: PhoneModel.TokenReport) -> String {
        let activity = PlainHTTP.segment(report.activityIdentifier ?? "")
        switch report.kind {
        case .update:
            guard let range = options.address.firstRange(of: AppBackend.placeholder) else {
                return "\(place.path)/v1/live-activities/\(activity)/token"
            }
            let whole = options.address.replacingCharacters(in: range, with: activity)
            let scheme = whole.hasPrefix("http://") ? 7 : 0
            return String(whole.dropFirst(scheme).drop { $0 != "/" })
        case .start:
            let type = PlainHTTP.segment(report.attributesType ?? "Delivery")
            return "\(place.path)/v1/users/\(PlainHTTP.segment(report.phone))/push-to-start-tokens/\(type)"
        }
    }

    private static func body(of report: PhoneModel.TokenReport) -> [UInt8] {
        var object = JSONObject()
        object["token"] = .string(report.token)
        object["timestamp"] = .number(JSONNumber(secondsOfMilliseconds: report.atMilliseconds))
        return JSONDocument.bytes(of: .object(object))
    }

    private static func excerpt(_ body: [UInt8]) -> String {
        String(String(decoding: body.prefix(300), as: UTF8.self).map { $0.isNewline ? " " : $0 })
    }
}

extension String {
    func replacingCharacters(in range: Range<Index>, with text: String) -> String {
        String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
    }
}
