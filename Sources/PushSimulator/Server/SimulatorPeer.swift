import HTTP2

/// A connection with what the face remembers of it.
final class SimulatorPeer {
    let connection: ServerConnection
    /// The peer's address as text.
    let host: String
    var face = FaceConnection()
    var highestProcessedStream: Int32 = 0
    var lastRequestMilliseconds: Int64
    /// Entry numbers of answers that may still be under way. Two generations, so that nothing has to be searched: what is in neither was
    /// answered at least `answerFlightMilliseconds` ago.
    private var recentAnswers: [Int] = []
    private var olderAnswers: [Int] = []
    private var generationMilliseconds: Int64

    private static let answerFlightMilliseconds: Int64 = 500

    init(_ connection: ServerConnection, nowMilliseconds: Int64) {
        self.connection = connection
        host = SimulatorHandler.host(of: connection.peer)
        lastRequestMilliseconds = nowMilliseconds
        generationMilliseconds = nowMilliseconds
    }

    private var priorityFrames = 0

    /// Whether PRIORITY frames, or priorities in HEADERS, came since it was last asked.
    func takePriorityFrames() -> Bool {
        defer { priorityFrames = connection.counters.priorityFrames }
        return connection.counters.priorityFrames > priorityFrames
    }

    func answered(_ number: Int, nowMilliseconds: Int64) {
        age(nowMilliseconds)
        recentAnswers.append(number)
    }

    /// The answers that may have died on their way, if the connection breaks now.
    func takeAnswersUnderWay(nowMilliseconds: Int64) -> [Int] {
        age(nowMilliseconds)
        defer { (olderAnswers, recentAnswers) = ([], []) }
        return olderAnswers + recentAnswers
    }

    private func age(_ nowMilliseconds: Int64) {
        let age = nowMilliseconds - generationMilliseconds
        guard age >= SimulatorPeer.answerFlightMilliseconds else { return }
        olderAnswers = age < 2 * SimulatorPeer.answerFlightMilliseconds ? recentAnswers : []
        recentAnswers.removeAll(keepingCapacity: true)
        generationMilliseconds = nowMilliseconds
    }
}
