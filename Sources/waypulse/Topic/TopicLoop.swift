import Instruments
import KafkaClient
import Pipeline
import Sockets

/// A loop for clients of a command, run by the command's own thread until the work is done or somebody stops it.
final class TopicLoop {
    /// Between two looks at what no descriptor tells.
    static let longestTurnMilliseconds: Int32 = 100

    let loop: EventLoop
    let registry = Registry()
    private let stop = StopRequest()
    private lazy var sink = LogSink(level: .error, format: .forStandardError, registry: registry)
    private(set) lazy var kafkaInstruments = KafkaInstruments(registry: registry)

    init(signals: StopSignals) throws {
        loop = try EventLoop()
        let (stop, mailbox) = (stop, loop.mailbox)
        signals.onFirst {
            stop.stop()
            mailbox.wake()
        }
    }

    var isStopped: Bool { stop.isStopped }

    /// A command talks to a person: its own words follow, in place of its client's log.
    func log(_ component: StaticString) -> Log {
        Log(component: component, to: sink)
    }

    /// Lets the loop serve what there is, or wait for it.
    func turn(atMostMilliseconds most: Int32 = longestTurnMilliseconds) {
        loop.runOnce(timeoutMilliseconds: min(most, Self.longestTurnMilliseconds))
    }

    /// Waits for one answer.
    ///
    /// - Throws: what the answer says, or that it was stopped.
    func answer<Value, Failure: Error>(_ ask: (@escaping (Result<Value, Failure>) -> Void) -> Void) throws -> Value {
        var answer: Result<Value, Failure>?
        ask { answer = $0 }
        while answer == nil {
            guard !isStopped else { throw CommandFault(.failure, "stopped") }
            turn()
        }
        return try answer!.get()
    }
}
