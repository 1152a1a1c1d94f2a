import LiveActivities
import Pacing
import Telemetry
import Testing

@testable import Flow

/// Members that share a store and a log, on one clock that the test moves.
final class GroupBench {
    final class Seat {
        let name: String
        let member: Member
        let link: Int
        var lane: Lane { member.lane }
        /// It does nothing at all: its process stands still.
        var isFrozen = false
        /// Requests go out and come back; else they stay where they are.
        var isHeard = true
        /// What it read, by partition.
        var read: [Int32: Int64] = [:]
        var epochs: [Int32: Epoch] = [:]
        var prepared: [(ticket: UInt64, partition: Int32, from: Int, to: Int)] = []
        var underWay: [(identifier: UInt64, request: StoreRequest)] = []
        fileprivate var body = ByteBuffer()

        init(_ settings: MemberSettings, lane: Lane, link: Int) {
            name = settings.name
            member = Member(settings: settings, lane: lane)
            self.link = link
        }
    }

    struct Push {
        let member: String
        let update: Update
        let epoch: Epoch
        let atMilliseconds: Int64
    }

    let store: ScriptedStore
    private(set) var seats: [Seat] = []
    private(set) var now: Int64 = 1_800_000_000_000
    private(set) var pushes: [Push] = []
    /// By partition, from 1 on: what was published.
    private var log: [Int32: [[UInt8]]] = [:]
    private var decoder = EventDecoder(apps: [])
    let partitions: Int
    /// Nil: no answer comes.
    var answer: (Update) -> ProviderAnswer? = { _ in ProviderAnswer(status: 200) }
    private(set) var unanswered: [(seat: Seat, dispatch: Dispatch)] = []
    var turnsOfNow = 0

    init(partitions: Int = 1, store: ScriptedStore = ScriptedStore()) {
        self.partitions = partitions
        self.store = store
    }

    var moment: Moment { Moment(pacing: Instant(milliseconds: now), realMilliseconds: now) }

    @discardableResult
    func join(_ name: String, _ change: (inout MemberSettings) -> Void = { _ in }) -> Seat {
        var settings = MemberSettings(name: name, partitions: partitions)
        settings.leaseMilliseconds = store.leaseMilliseconds
        settings.sources = store.sources
        change(&settings)
        var lane = LaneSettings(shard: ShardSettings(), types: ActivityTypes())
        lane.shard.keepsCheckpoints = true
        let made = Lane(settings: lane)
        let link = made.addLink(pool: 0)
        made.setStreams(100, link: link)
        let seat = Seat(settings, lane: made, link: link)
        seats.append(seat)
        return seat
    }

    func remove(_ seat: Seat) { seats.removeAll { $0 === seat } }

    // MARK: Records

    func publish(_ type: String, _ activity: String, _ fields: String = "", partition: Int32 = 0) {
        let text =
            #"{"type":"\#(type)","activityId":"\#(activity)","timestamp":\#(Double(now) / 1_000)\#(fields.isEmpty ? "" : ",")\#(fields)}"#
        log[partition, default: []].append(Array(text.utf8))
        turn()
    }

    func begin(_ activity: String, partition: Int32 = 0) {
        let token = String(repeating: String(activity.utf8.reduce(0) { $0 &+ UInt64($1) } % 10), count: 64)
        publish(
            "activity.started", activity, #""attributesType":"Ride","status":"new","token":"\#(token)""#,
            partition: partition)
    }

    func status(_ activity: String, _ status: String, partition: Int32 = 0) {
        publish("status", activity, #""status":"\#(status)""#, partition: partition)
    }

    /// - Parameter north: in degrees: 0.01 are 1,112 m.
    func position(_ activity: String, north: Double, partition: Int32 = 0) {
        publish("position", activity, #""latitude":\#(10 + north),"longitude":10"#, partition: partition)
    }

    // MARK: Time

    /// Time goes on, and everybody does at each moment what there is to be done.
    func pass(_ milliseconds: Int64) {
        let end = now + milliseconds
        turn()
        while now < end {
            now = min(end, max(now + 1, nextDue))
            turn()
        }
    }

    private var nextDue: Int64 {
        var due = Int64.max
        for seat in seats where !seat.isFrozen {
            due = min(due, seat.member.nextDueMilliseconds)
            if let pacing = seat.lane.nextPacingDueMilliseconds { due = min(due, pacing) }
            if let real = seat.lane.nextRealDueMilliseconds(after: now) { due = min(due, real) }
        }
        return due
    }

    func turn() {
        turnsOfNow = 0
        repeat { turnsOfNow += 1 } while turnsOfNow < 1_000 && turnOnce()
        #expect(turnsOfNow < 1_000, "a member that always has something to ask")
    }

    /// - Returns: whether anything happened.
    private func turnOnce() -> Bool {
        var hasStirred = false
        for seat in seats where !seat.isFrozen {
            if let due = seat.lane.nextPacingDueMilliseconds, due <= now { seat.lane.fire(at: moment) }
            seat.member.advance(to: moment)
            while let asked = seat.member.nextRequest() { seat.underWay.append(asked) }
            if seat.isHeard { hasStirred = exchange(seat) || hasStirred }
            hasStirred = read(seat) || hasStirred
            hasStirred = apply(seat) || hasStirred
            hasStirred = dispatch(seat) || hasStirred
        }
        return hasStirred
    }

    private func exchange(_ seat: Seat) -> Bool {
        let asked = seat.underWay
        seat.underWay = []
        for (identifier, request) in asked {
            seat.member.answer(identifier, store.answer(request, from: seat.name, at: now), at: moment)
        }
        return !asked.isEmpty
    }

    private func read(_ seat: Seat) -> Bool {
        var hasRead = false
        for number in 0..<Int32(partitions) {
            if !seat.member.isReading(number) || seat.epochs[number] != seat.member.epoch(of: number) {
                seat.read[number] = nil
                for batch in seat.prepared where batch.partition == number { seat.member.finish(batch.ticket) }
                seat.prepared.removeAll { $0.partition == number }
                seat.epochs[number] = seat.member.epoch(of: number)
            }
            guard seat.member.isReading(number) else { continue }
            if seat.read[number] == nil {
                let end = log[number]?.count ?? -1
                seat.member.noteEnd(partition: number, source: 0, offset: Int64(end), at: moment)
                seat.read[number] = seat.member.readAfter(partition: number, source: 0) ?? 0
            }
            let from = Int(seat.read[number] ?? seat.member.readAfter(partition: number, source: 0) ?? 0)
            let records = log[number] ?? []
            guard from < records.count else { continue }
            var keys: [[UInt8]] = []
            for record in records[from...] {
                keys.append(withEvent(record) { Array($0.identifier) })
            }
            let ticket = seat.member.prepare(keys.count, partition: number, at: moment) { place in
                (keys[place].withUnsafeBytes { UnsafeRawBufferPointer(copying: $0) }, false)
            }
            seat.prepared.append((ticket, number, from, records.count))
            seat.read[number] = Int64(records.count)
            hasRead = true
        }
        return hasRead
    }

    private func apply(_ seat: Seat) -> Bool {
        var hasApplied = false
        while let batch = seat.prepared.first, seat.member.isPrepared(batch.ticket) {
            for place in batch.from..<batch.to {
                withEvent(log[batch.partition]![place]) { event in
                    let faults = seat.member.apply(
                        event, partition: batch.partition, offset: Int64(place + 1), at: moment)
                    #expect(faults.isEmpty)
                }
            }
            seat.member.finish(batch.ticket)
            seat.prepared.removeFirst()
            hasApplied = true
        }
        return hasApplied
    }

    private func dispatch(_ seat: Seat) -> Bool {
        var hasSent = false
        while let dispatch = seat.lane.next(at: moment, body: &seat.body) {
            hasSent = true
            guard seat.lane.maySend(partition: dispatch.partition, epoch: dispatch.epoch, at: now) else {
                _ = seat.lane.complete(dispatch.identifier, .unsent, at: moment)
                continue
            }
            pushes.append(
                Push(member: seat.name, update: dispatch.update, epoch: dispatch.epoch, atMilliseconds: now))
            if let answer = answer(dispatch.update) {
                _ = seat.lane.complete(
                    dispatch.identifier, .answered(answer, providerTokenAgeSeconds: 60), at: moment)
            } else {
                unanswered.append((seat, dispatch))
            }
        }
        return hasSent
    }

    func answerAll(_ answer: ProviderAnswer = ProviderAnswer(status: 200)) {
        for (seat, dispatch) in unanswered {
            _ = seat.lane.complete(dispatch.identifier, .answered(answer, providerTokenAgeSeconds: 60), at: moment)
        }
        unanswered = []
        turn()
    }

    private func withEvent<Result>(_ bytes: [UInt8], _ body: (Event) -> Result) -> Result {
        bytes.withUnsafeBytes { bytes in
            do { return body(try decoder.decode(bytes)) } catch { preconditionFailure("\(error)") }
        }
    }

    // MARK: What can be seen

    func owned(by seat: Seat) -> [Int32] { (0..<Int32(partitions)).filter { seat.member.isReading($0) } }

    func statuses(of activity: String) -> [String] {
        pushes.filter { $0.update.activityIdentifier == activity }.compactMap {
            if case .string(let text)? = $0.update.contentState[FieldPath("status")] { text } else { nil }
        }
    }

    func sequences(of activity: String) -> [UInt64] {
        pushes.filter { $0.update.activityIdentifier == activity }.map(\.update.sequence)
    }
}

extension UnsafeRawBufferPointer {
    /// Bytes that live as long as the test process.
    fileprivate init(copying bytes: UnsafeRawBufferPointer) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyMemory(from: bytes)
        self.init(copy)
    }
}
