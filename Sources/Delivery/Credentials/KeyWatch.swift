import Instruments
import Sockets

/// A provider token, and the file that its key comes from.
public struct WatchedKey: Sendable {
    public let file: KeyFile
    public let providerToken: ProviderToken
    /// That push with it; for the log.
    public var apps: [String]

    public init(file: KeyFile, providerToken: ProviderToken, apps: [String]) {
        (self.file, self.providerToken, self.apps) = (file, providerToken, apps)
    }
}

/// Reads signing keys again every few seconds, on a thread of its own: a disk that hangs holds up nothing else. A key that has changed takes
/// over; one that cannot be used changes nothing.
public final class KeyWatch: Sendable {
    public static let standardIntervalMilliseconds: Int64 = 5_000

    private let thread: LoopThread

    /// - Throws: where the system gives no thread.
    public init(
        _ keys: [WatchedKey], everyMilliseconds interval: Int64 = standardIntervalMilliseconds,
        instruments: DeliveryInstruments, log: Log
    ) throws(SystemFault) {
        thread = try LoopThread.start(name: "keys") { loop in
            let rounds = Rounds(keys, instruments: instruments, log: log)
            rounds.begin(on: loop, every: interval)
            // What keeps them as long as the loop runs.
            loop.onWake { _ = rounds }
        }
    }

    deinit { stop() }

    /// Returns when its thread has ended. A second call does nothing.
    public func stop() { thread.stopAndJoin() }
}

/// Which faults were told. On the watch's thread.
private final class Rounds {
    private let keys: [WatchedKey]
    private let instruments: DeliveryInstruments
    private let log: Log
    private var faults: [CredentialFault?]
    private var timer: LoopTimer?

    init(_ keys: [WatchedKey], instruments: DeliveryInstruments, log: Log) {
        self.keys = keys
        self.instruments = instruments
        self.log = log
        faults = keys.map { _ in nil }
    }

    func begin(on loop: EventLoop, every interval: Int64) {
        timer = loop.timer { [unowned self, unowned loop] in
            for index in keys.indices { look(at: index) }
            timer?.schedule(atMilliseconds: loop.nowMilliseconds + interval)
        }
        timer?.schedule(atMilliseconds: loop.nowMilliseconds + interval)
    }

    private func look(at index: Int) {
        let key = keys[index]
        let apps = key.apps.joined(separator: " ")
        do throws(CredentialFault) {
            let content = try key.file.read()
            let fingerprint = content.pem.withBytes { SigningKey.sha256(Array($0)) }
            let isKnown = key.providerToken.holds(keyIdentifier: content.keyIdentifier, fingerprint: fingerprint)
            if isKnown {
                faults[index] = nil
                return
            }
            let waitMilliseconds = key.providerToken.adopt(
                try content.signingKey(), keyIdentifier: content.keyIdentifier)
            faults[index] = nil
            instruments.keyChanges.add(1, .adopted)
            log.info(
                "the signing key has changed", .field("app", apps), .field("keyId", content.keyIdentifier),
                .field("inUseInSeconds", (waitMilliseconds + 999) / 1_000))
        } catch {
            // Once for each fault, not every few seconds.
            guard faults[index] != error else { return }
            faults[index] = error
            instruments.keyChanges.add(1, .unusable)
            log.error(
                "the signing key on disk cannot be used; the one in use stays", .field("app", apps), .error(error))
        }
    }
}
