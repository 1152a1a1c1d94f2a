import Flow
import Glibc
import Streams

/// Puts events of many activities into the partitions of a topic, as fast as these are taken or at a rate.
final class StreamProducer {
    struct Shape {
        var partitions: Int32
        var activities: Int
        /// Of a hundred positions, those that lie 200 m from the one before.
        var movesPercent: UInt64 = 0
    }

    /// Commands that go out together.
    private static let batch = 500

    private let shape: Shape
    private let target: ProducerTarget
    private let messages = EventMessages()
    private let message: UnsafeMutableRawBufferPointer
    private let keys: [[UInt8]]
    private let partitions: [UInt32]
    private var isNorth: [Bool]
    private var random: SplitMix
    private var eventCount = 0
    private var waiting = 0

    init(_ shape: Shape, target: ProducerTarget, seed: UInt64) {
        self.shape = shape
        self.target = target
        random = SplitMix(seed: seed)
        isNorth = Array(repeating: false, count: shape.activities)
        message = .allocate(
            byteCount: max(messages.startByteCount, EventMessages.byteCount), alignment: 8)
        message.initializeMemory(as: UInt8.self, repeating: 0)
        let placement = KeyPlacement(partitions: shape.partitions)
        keys = (0..<shape.activities).map { activity in
            let digits = String(activity)
            return Array(("ride-" + String(repeating: "0", count: 7 - digits.count) + digits).utf8)
        }
        partitions = keys.map { $0.withUnsafeBytes { UInt32(placement.partition(of: $0)) } }
    }

    deinit { message.deallocate() }

    /// Each activity begins, and is at its place.
    ///
    /// - Parameter seconds: over how long; 0 for as fast as it goes.
    func start(within seconds: Int) throws {
        let began = Clock.monotonic()
        for activity in 0..<shape.activities {
            let due = began + Int64(seconds) * 1_000_000_000 / Int64(shape.activities) * Int64(activity)
            let early = due - Clock.monotonic()
            if early > 1_000_000 {
                try turn()
                usleep(UInt32(early / 1_000))
            }
            messages.writeStart(activity, milliseconds: Self.wallMilliseconds(), into: message.baseAddress!)
            try append(activity, count: messages.startByteCount)
            try move(activity)
        }
        try target.settle()
    }

    /// Positions of activities drawn at random.
    func positions(_ count: Int) throws {
        for _ in 0..<count { try move(Int(random.next() % UInt64(shape.activities))) }
        try turn()
    }

    /// A status of an activity drawn at random, which says when it was made.
    ///
    /// - Returns: which one, and that time.
    func status() throws -> (activity: Int, milliseconds: Int64) {
        let activity = Int(random.next() % UInt64(shape.activities))
        let now = Self.wallMilliseconds()
        messages.writeNews(activity, milliseconds: now, into: message.baseAddress!)
        try append(activity, count: messages.newsByteCount)
        return (activity, now)
    }

    /// Sends what waits, and hears what was answered.
    func turn() throws {
        waiting = 0
        try target.turn()
    }

    /// Waits until all is answered.
    func settle() throws { try target.settle() }

    static func wallMilliseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    private func move(_ activity: Int) throws {
        let draw = random.next()
        if shape.movesPercent > 0, draw >> 40 % 100 < shape.movesPercent { isNorth[activity].toggle() }
        // About 200 m apart, and 10 m of noise.
        let latitude = 100_000 + (isNorth[activity] ? 18_000 : 0) + Int(draw % 1_000)
        eventCount += 1
        messages.writePosition(
            activity, event: eventCount, milliseconds: Self.wallMilliseconds(), offsets: (latitude, 100_000),
            into: message.baseAddress!)
        try append(activity, count: EventMessages.byteCount)
    }

    private func append(_ activity: Int, count: Int) throws {
        try target.append(
            UnsafeRawBufferPointer(start: message.baseAddress, count: count), key: keys[activity],
            partition: partitions[activity])
        waiting += 1
        if waiting == Self.batch { try turn() }
    }
}
