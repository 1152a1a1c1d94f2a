import HTTP1
import Instruments

/// The API while it runs: a listener with a thread of its own, and what answers on it.
public final class RegistrationServer: Sendable {
    private let listener: HTTPListener
    public var port: UInt16 { listener.port }

    /// - Parameters:
    ///   - keys: looked at again about once a second.
    ///   - registry: where the metrics of the API are declared; one server a registry.
    ///   - now: Unix milliseconds.
    public init(
        _ settings: RegistrationSettings, desk: any ActivityDesk, keys: KeyRing, registry: Registry, log: Log,
        now: @escaping @Sendable () -> Int64 = LogSink.wallClockMilliseconds
    ) throws(ListenFault) {
        let instruments = RegistrationInstruments(registry)
        let watch = StateWatch(
            desk: desk, keys: keys, limit: settings.maxStreams, questions: instruments.questions)
        let handler = RequestHandler(
            settings, desk: desk, keys: keys, watch: watch, instruments: instruments, log: log,
            now: now)
        var limits = HTTPLimits()
        limits.connections = settings.maxConnections
        limits.connectionsPerAddress = settings.maxConnectionsPerAddress
        limits.headerBytes = settings.maxHeaderBytes
        limits.bodyBytes = settings.maxBodyBytes
        limits.requestMilliseconds = settings.requestMilliseconds
        limits.idleMilliseconds = settings.idleMilliseconds
        limits.answerMilliseconds = RegistrationServer.answerMilliseconds
        listener = try HTTPListener(
            host: settings.host, port: settings.port, limits: limits,
            callbacks: .init(
                admit: { handler.admit($0) }, refuse: { handler.refusal($0) }, tickMilliseconds: 1000,
                tick: { handler.tick() }))
        RegistrationInstruments.observe(registry, listener, watch, keys)
    }

    /// A broker that has not answered by then is as good as away; the client is told to try again.
    private static let answerMilliseconds: Int64 = 15_000

    /// Ends streams and connections, and returns when the thread has ended. The last call on this object.
    public func stop() { listener.stop() }
}
