/// When each record of a recording is published anew, and what time its event then bears. All in milliseconds since the replay began.
struct ReplaySchedule {
    /// At `max` times are pressed together no further than this, so that two positions of an activity a second apart still differ
    /// by the millisecond that events are told apart by.
    static let speedOfTimesAtMax = 1000.0
    /// Between the last record of a pass and the first of the next.
    static let betweenPassesMilliseconds = 1.0

    /// nil is `max`.
    private let speed: Double?
    private let leastGapMilliseconds: Double
    private var passBegin = 0.0
    private var isFirst = true
    /// Of the recording's clock, in this pass.
    private var firstTime: Int64?
    private var lastTime: Int64?
    /// When the newest record is to leave.
    private(set) var dueMilliseconds = 0.0
    /// Where its time is moved to.
    private(set) var timeMilliseconds = 0.0

    /// - Parameter recordsPerSecond: the most that leave in a second; nil is no limit.
    init(speed: Double?, recordsPerSecond: Double?) {
        self.speed = speed
        leastGapMilliseconds = recordsPerSecond.map { 1000 / $0 } ?? 0
    }

    /// - Parameters:
    ///   - recordTime: where the recording's clock stands; nil as long as no record told it.
    ///   - elapsedMilliseconds: since the replay began.
    mutating func take(recordTime: Int64?, elapsedMilliseconds: Double) {
        let paced = isFirst ? 0 : dueMilliseconds + leastGapMilliseconds
        isFirst = false
        let first = firstTime ?? recordTime
        let step = Double((recordTime ?? 0) - (lastTime ?? recordTime ?? 0))
        (firstTime, lastTime) = (first, recordTime)
        guard let speed else {
            dueMilliseconds = max(dueMilliseconds, paced)
            let pressed = timeMilliseconds + step / ReplaySchedule.speedOfTimesAtMax
            timeMilliseconds = max(pressed, elapsedMilliseconds, dueMilliseconds)
            return
        }
        let planned = passBegin + Double((recordTime ?? 0) - (first ?? 0)) / speed
        dueMilliseconds = max(dueMilliseconds, planned, paced)
        timeMilliseconds = dueMilliseconds
    }

    mutating func beginPass() {
        passBegin = dueMilliseconds + ReplaySchedule.betweenPassesMilliseconds
        timeMilliseconds += ReplaySchedule.betweenPassesMilliseconds
        (firstTime, lastTime) = (nil, nil)
    }
}
