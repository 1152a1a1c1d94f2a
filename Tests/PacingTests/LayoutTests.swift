import Telemetry
import Testing

@testable import Pacing

@Suite("Slabs")
struct SlabTests {
    @Test("an index keeps its place while the slab grows, and is given out again after its release")
    func places() {
        var slab = ActivitySlab()
        let first = slab.allocate(named("first"))
        let place = slab.states[first]
        let capacity = Slab<ActivityState>.chunkCapacity
        for number in 1...2 * capacity { _ = slab.allocate(named("ride-\(number)")) }
        #expect(slab.states[first] == place)
        #expect(slab.bound == UInt32(2 * capacity + 1))
        #expect(slab.stateByteCount == 3 * capacity * 128)
        for index in 0..<slab.bound { #expect(UInt(bitPattern: slab.states[index]) % 128 == 0) }

        slab.states[UInt32(capacity)].pointee.lastOffset = 17
        slab.release(UInt32(capacity))
        slab.release(5)
        #expect(!slab.isInUse(5) && slab.isInUse(6) && !slab.isInUse(slab.bound))
        #expect(slab.allocate(named("again")) == 5)
        #expect(slab.allocate(named("and again")) == UInt32(capacity))
        #expect(slab.states[UInt32(capacity)].pointee.lastOffset == -1)
    }

    @Test("event ids take no memory until one comes, and a new activity has none of those of the former")
    func rings() {
        var slab = ActivitySlab()
        let index = slab.allocate(named("one"))
        #expect(slab.ring(index) == nil && slab.ringByteCount == 0)
        EventIdentifierRing.insert(9, into: slab.makeRing(index))
        #expect(slab.ring(index).map { EventIdentifierRing.contains($0, 9) } == true)
        slab.release(index)
        #expect(slab.allocate(named("two")) == index)
        #expect(slab.ring(index).map { EventIdentifierRing.contains($0, 9) } == false)
    }

    @Test("sixteen event ids are remembered, the seventeenth drives out the first")
    func sixteen() {
        let ring = UnsafeMutablePointer<EventIdentifierRing>.allocate(capacity: 1)
        defer { ring.deallocate() }
        ring.initialize(to: EventIdentifierRing())
        for hash in 1...17 { EventIdentifierRing.insert(UInt64(hash), into: ring) }
        #expect(!EventIdentifierRing.contains(ring, 1))
        for hash in 2...17 { #expect(EventIdentifierRing.contains(ring, UInt64(hash))) }
    }
}

@Suite("Six bytes")
struct Int48Tests {
    @Test(
        "keep a number, and of one that is too large the largest",
        arguments: [0, 1, -1, 1_795_953_600_123, -62_135_596_800_000, 1 << 47 - 2, -1 << 47 + 1] as [Int64])
    func values(value: Int64) {
        #expect(Int48(value).value == value)
        #expect(Int48(value).known == value)
    }

    @Test("know none from a number")
    func none() {
        #expect(Int48(.min) == .min && Int48.min.known == nil && Int48.min.value == .min)
        #expect(Int48(1 << 47) == .max && Int48.max.value == .max)
    }
}

@Suite("The vocabulary")
struct VocabularyTests {
    @Test("a word has one place; beyond the limit the activity keeps its own")
    func limit() {
        let vocabulary = Vocabulary()
        for number in 1...Vocabulary.limit {
            #expect(vocabulary.place(ofType: "Type\(number)") == UInt8(number))
            #expect(vocabulary.place(ofFields: [FieldPath("field\(number)")]) == UInt8(number))
        }
        #expect(vocabulary.place(ofType: "Type7") == 7)
        #expect(vocabulary.type(7) == "Type7")
        #expect(vocabulary.fields(7) == [FieldPath("field7")])
        #expect(vocabulary.place(ofType: "another") == Vocabulary.apart)
        #expect(vocabulary.place(ofFields: [FieldPath("another")]) == Vocabulary.apart)
        #expect(vocabulary.place(ofFields: []) == Vocabulary.none)
    }

    @Test("long words find no place, and names are told apart byte for byte")
    func words() {
        let vocabulary = Vocabulary()
        #expect(vocabulary.place(ofType: String(repeating: "x", count: 129)) == Vocabulary.apart)
        #expect(vocabulary.place(ofFields: [FieldPath(String(repeating: "x", count: 600))]) == Vocabulary.apart)
        #expect(vocabulary.place(ofType: "caf\u{E9}") != vocabulary.place(ofType: "cafe\u{301}"))
    }

    @Test("a record reads back what it was given, whoever keeps it")
    func records() {
        let vocabulary = Vocabulary()
        var slab = ActivitySlab()
        let record = ActivityRecord(stored: slab.records[slab.allocate(named("one"))], vocabulary: vocabulary)
        for type in ["Delivery", String(repeating: "x", count: 500), "Delivery", nil] {
            record.attributesType = type
            #expect(record.attributesType == type)
        }
        let many = (0..<40).map { FieldPath("field\($0)") }
        for fields in [[FieldPath("a")], many, [FieldPath("b"), FieldPath("c")], []] {
            record.setFields = fields
            #expect(record.setFields == fields)
        }
        record.shed()
        #expect(record.stored.pointee.extras == nil)
    }
}

@Suite("What few activities have")
struct ExtrasTests {
    private let events = EventBuilder()

    /// An activity with a relevance score and an update in flight.
    private func shard() throws -> (shard: Shard, update: Update) {
        let shard = Shard(settings: ShardSettings())
        _ = shard.apply(events.started(0, .updateToken(.of(1))), at: Self.begin)
        _ = shard.apply(events.status(0, "near", relevance: 7), at: Self.begin)
        return (shard, try #require(shard.take(pool: 0, at: Self.begin)))
    }

    private static let begin = Instant(milliseconds: EventBuilder.epochMilliseconds)

    @Test("an activity with nothing but the usual has no object of its own before and after an update")
    func nothing() throws {
        let shard = Shard(settings: ShardSettings())
        _ = shard.apply(events.started(0, .updateToken(.of(1))), at: Self.begin)
        #expect(shard.record(0).stored.pointee.extras == nil)
        _ = shard.apply(events.status(0, "near"), at: Self.begin)
        let update = try #require(shard.take(pool: 0, at: Self.begin))
        #expect(shard.record(0).stored.pointee.extras != nil)
        shard.settle(update.ticket, .accepted, at: Self.begin)
        #expect(shard.record(0).stored.pointee.extras == nil)
    }

    @Test("goes with its activity")
    func removal() throws {
        let (shard, update) = try shard()
        weak let extras = shard.record(0).stored.pointee.extras
        weak let flight = shard.record(0).flight
        #expect(extras != nil && flight != nil)
        shard.settle(update.ticket, .accepted, at: Self.begin)
        #expect(flight == nil)
        #expect(shard.record(0).relevanceScore == 7)
        _ = shard.apply(events.ended(0), at: Self.begin)
        let final = try #require(shard.take(pool: 0, at: Self.begin))
        #expect(extras != nil && !shard.record(0).latestContent.isEmpty)
        shard.settle(final.ticket, .accepted, at: Self.begin)
        // It is remembered, its content is not.
        #expect(extras == nil && shard.record(0).latestContent.isEmpty)
        #expect(shard.activityCount == 1)
        shard.fire(at: Instant(milliseconds: EventBuilder.epochMilliseconds + 13 * 3_600_000))
        #expect(shard.activityCount == 0)
        #expect(extras == nil)
    }

    @Test("goes with a life that is over, but for what goes on")
    func newLife() throws {
        let (shard, update) = try shard()
        weak let extras = shard.record(0).stored.pointee.extras
        shard.settle(update.ticket, .accepted, at: Self.begin)
        _ = shard.apply(events.ended(0), at: Self.begin)
        let final = try #require(shard.take(pool: 0, at: Self.begin))
        shard.settle(final.ticket, .accepted, at: Self.begin)
        _ = shard.apply(events.started(0, .updateToken(.of(2))), at: Self.begin)
        #expect(extras == nil)
        #expect(shard.record(0).relevanceScore == nil)
        #expect(shard.record(0).life == 1)
        #expect(shard.record(0).sequence == 2)
        #expect(shard.record(0).knows(.updateToken(.of(1))) && shard.record(0).knows(.updateToken(.of(2))))
        #expect(!shard.record(0).knows(.updateToken(.of(3))))
    }

    @Test("goes with the shard")
    func end() throws {
        weak var extras: ActivityExtras?
        weak var flight: Flight?
        do {
            let (shard, _) = try shard()
            extras = shard.record(0).stored.pointee.extras
            flight = shard.record(0).flight
            #expect(extras != nil && flight != nil)
        }
        #expect(extras == nil && flight == nil)
    }
}
