import Telemetry
import Testing

@testable import Pacing

@Suite("Sanity and order")
struct SanityTests {
    let ride = EventBuilder()

    @Test("an event id comes once among the last sixteen")
    func eventIdentifiers() {
        let run = VirtualRun()
        for id in 1...17 {
            run.apply(ride.status(Double(id), relevance: Double(id), id: UInt64(id)))
        }
        run.apply(ride.status(20, relevance: 0, id: 2))  // the sixteenth from the end
        run.apply(ride.status(21, relevance: 0, id: 1))  // forgotten
        #expect(run.decisions == ["applied": 18, "duplicate": 1])
    }

    @Test("a source offset is applied once, and a dropped record is not remembered")
    func offsets() {
        let run = VirtualRun()
        run.apply(ride.position(0), offset: 10)
        run.apply(ride.position(1, accuracy: 500), offset: 11)
        run.apply(ride.position(2), offset: 11)
        run.apply(ride.position(3), offset: 11)
        run.apply(ride.position(4), offset: 10)
        #expect(run.decisions == ["sent": 1, "inaccurate": 1, "deadband": 1, "duplicate": 2])
    }

    @Test("positions of the same time are one, older ones are out of order; a status is never too late")
    func order() {
        let run = timeline(
            "a...b....S|",
            ["a": .at(0), "b": .at(10), "S": Act { event, _ in event.status(1, "arrived") }],
            sends: "a........S|")
        #expect(run.decisions == ["sent": 2, "deadband": 1])
        run.apply(ride.position(4, north: 500), at: 20)
        run.apply(ride.position(3, north: 500), at: 20)
        #expect(run.decisions == ["sent": 2, "deadband": 1, "duplicate": 1, "out_of_order": 1])
    }

    @Test("null island is exactly (0, 0): one zero is a place")
    func nullIsland() {
        let run = VirtualRun()
        run.apply(ride.position(0, at: Coordinate(latitude: 0, longitude: 0)))
        #expect(run.decisions == ["null_island": 1])
        #expect(run.shard.statistics.activities == 0)  // a dropped event begins nothing
        run.apply(ride.position(1, at: Coordinate(latitude: 0, longitude: -0.0)))
        run.apply(ride.position(2, at: Coordinate(latitude: 0, longitude: 8)))
        #expect(run.decisions == ["null_island": 2, "sent": 1])
        let open = VirtualRun(.with { $0.allowNullIsland = true })
        open.apply(ride.position(0, at: Coordinate(latitude: 0, longitude: 0)))
        #expect(open.decisions == ["sent": 1])
    }

    @Test("an accuracy above the limit is dropped, the limit itself is not, a missing one neither")
    func inaccurate() {
        let run = VirtualRun()
        run.apply(ride.position(0, accuracy: 200))
        run.apply(ride.position(1, accuracy: 200.1))
        run.apply(ride.position(2))
        #expect(run.decisions == ["sent": 1, "inaccurate": 1, "deadband": 1])
    }

    @Test("a time from the future never becomes the newest: the next normal one is taken")
    func future() {
        let run = VirtualRun()
        run.apply(ride.position(0), at: 0)
        run.apply(ride.position(60.001, north: 10), at: 0)
        run.apply(ride.position(60, north: 20), at: 0)
        #expect(run.decisions == ["sent": 1, "future": 1, "deadband": 1])
        let poisoned = VirtualRun()
        poisoned.apply(ride.position(0), at: 0)
        poisoned.apply(ride.position(86_400 * 365, north: 10), at: 1)
        poisoned.apply(ride.position(2, north: 20), at: 2)
        #expect(poisoned.decisions == ["sent": 1, "future": 1, "deadband": 1])
    }

    @Test("positions older than an hour are dropped; a lost GPS week counter is told apart")
    func tooOld() {
        let run = VirtualRun()
        run.apply(ride.position(0), at: 3600)
        let other = EventBuilder(activity: "ride-2")
        run.apply(other.position(1), at: 3601.001)
        run.apply(other.position(3602 - 7168 * 86_400, north: 1), at: 3602)
        run.apply(other.position(3603 + 7168 * 86_400, north: 1), at: 3603)
        run.apply(other.position(3604 - 20 * 365 * 86_400, north: 1), at: 3604)
        #expect(run.decisions == ["sent": 1, "too_old": 3, "future": 1])
        #expect(run.shard.decisions.weekRollovers == 2)
    }

    @Test("a teleport is held aside and dropped when the next position is plausible from the last one taken")
    func teleport() {
        let run = VirtualRun()
        run.apply(ride.position(0))
        run.apply(ride.position(10, north: 5_000))
        #expect(run.decisions == ["sent": 1, "pending": 1])
        run.apply(ride.position(20, north: 20))
        #expect(run.decisions == ["sent": 1, "implausible": 1, "deadband": 1])
    }

    @Test("a longitude with its sign flipped is a teleport, and the good fix after it is taken at once")
    func flippedLongitude() {
        let run = VirtualRun()
        run.apply(ride.position(0, at: Coordinate(latitude: -34.6, longitude: -57.659367)))
        run.apply(ride.position(20, at: Coordinate(latitude: -34.6, longitude: 57.659551)))
        run.apply(ride.position(40, at: Coordinate(latitude: -34.6, longitude: -57.657367)))
        #expect(run.updates.map(\.position?.longitude) == [-57.659367, -57.657367])
        #expect(run.decisions == ["sent": 2, "implausible": 1])
    }

    @Test("two that bear each other out are both taken, in order, and judged once")
    func reanchor() {
        let run = VirtualRun()
        run.apply(ride.position(0, fields: ["a": 1]))
        run.apply(ride.position(20, north: 5_000, fields: ["b": 2]))
        run.apply(ride.position(21, north: 5_010))
        #expect(run.last?.contentState[FieldPath("b")] == 2)
        #expect(run.decisions == ["sent": 3])
        let bare = VirtualRun()
        bare.apply(ride.position(0))
        bare.apply(ride.position(20, north: 5_000))
        bare.apply(ride.position(21, north: 5_010))
        #expect(bare.decisions == ["sent": 2, "conflated": 1])
        #expect(bare.last?.positionTimestampMilliseconds == EventBuilder.milliseconds(21))
    }

    @Test("a second that fits neither takes the first one's place; what is older than that is out of order")
    func twoImplausible() {
        let run = VirtualRun()
        run.apply(ride.position(0))
        run.apply(ride.position(10, north: 5_000))
        run.apply(ride.position(11, north: 15_000))
        #expect(run.decisions == ["sent": 1, "implausible": 1, "pending": 1])
        run.apply(ride.position(10.5, north: 15_010), at: 12)
        #expect(run.decisions == ["sent": 1, "implausible": 1, "pending": 1, "out_of_order": 1])
        run.finish()
        #expect(run.decisions == ["sent": 1, "implausible": 2, "out_of_order": 1])
    }

    @Test("a position held aside blocks older ones while it is held, and no longer")
    func heldBlocksOlder() {
        let run = VirtualRun()
        run.apply(ride.position(0))
        run.apply(ride.position(20, north: 5_000))
        run.apply(ride.position(10, north: 50), at: 21)
        #expect(run.decisions == ["sent": 1, "out_of_order": 1, "pending": 1])
        // 90 m in 22 s: the one held aside is dropped, and so is its time
        run.apply(ride.position(22, north: 90))
        run.apply(ride.position(21, north: 80), at: 23)
        #expect(run.decisions == ["sent": 2, "out_of_order": 2, "implausible": 1])
    }

    @Test("a position held aside counts as seen: its id, its offset, and while it is held its time")
    func heldIsSeen() {
        let run = VirtualRun()
        run.apply(ride.position(0), offset: 1)
        run.apply(ride.position(10, north: 5_000, id: 7), offset: 2)
        run.apply(ride.position(10, north: 5_000), offset: 3)
        run.apply(ride.position(11, north: 5_000, id: 7), offset: 4)
        run.apply(ride.position(12, north: 5_000), offset: 2)
        #expect(run.decisions == ["sent": 1, "duplicate": 3, "pending": 1])
    }

    @Test("no filter locks an activity out: after a long gap a position is taken as it is")
    func longGap() {
        let run = VirtualRun()
        run.apply(ride.position(0))
        run.apply(ride.position(120, north: 50_000))
        #expect(run.decisions == ["sent": 1, "pending": 1])
        run.apply(ride.position(120.5, north: 100_000))
        #expect(run.decisions == ["sent": 2, "implausible": 1])
    }

    @Test("less than a second between two positions counts as one: no division by nothing")
    func sameMoment() {
        let run = VirtualRun()
        run.apply(ride.position(0))
        run.apply(ride.position(0.001, north: 99))
        run.apply(ride.position(0.002, north: 200))
        run.finish()
        #expect(run.decisions == ["sent": 2, "implausible": 1])
    }

    @Test("what is held aside is dropped at an end, with its content, and changed nothing")
    func heldAtEnd() {
        let run = VirtualRun()
        run.apply(ride.position(0))
        run.apply(ride.position(10, north: 5_000, fields: ["a": 1]))
        run.apply(ride.ended(11))
        #expect(run.decisions == ["sent": 1, "implausible": 1, "applied": 1])
        #expect(run.last?.kind == .end)
        #expect(run.last?.contentState[FieldPath("a")] == nil)
    }

    @Test("a dropped position drops its content too")
    func droppedContent() {
        let run = VirtualRun()
        run.apply(ride.position(0, accuracy: 500, fields: ["status": "gone"]))
        run.apply(ride.position(1, fields: ["status": "riding"]))
        run.apply(ride.position(0.5, north: 1, fields: ["status": "lost"]), at: 2)
        #expect(run.decisions == ["inaccurate": 1, "sent": 1, "out_of_order": 1])
        #expect(run.last?.contentState[FieldPath("status")] == "riding")
    }

    @Test("a coordinate that is not finite is refused by name, and compared with nothing")
    func notFinite() {
        let run = VirtualRun()
        run.apply(ride.position(0))
        run.apply(ride.position(1, at: Coordinate(latitude: .nan, longitude: 0)))
        run.apply(ride.position(2, at: Coordinate(latitude: 0, longitude: .infinity)))
        #expect(run.decisions == ["sent": 1, "implausible": 2])
    }

    @Test("unknown activities: with auto start off, ended without a start, and tokens that came early")
    func unknownActivity() {
        let run = VirtualRun(.with { $0.autoStart = false }, planTargets: false)
        run.apply(ride.position(0))
        run.apply(ride.status(1, "riding"))
        run.apply(ride.ended(2))
        #expect(run.decisions == ["unknown_activity": 3])
        run.apply(ride.token(3, .of(1)))
        #expect(run.decisions == ["unknown_activity": 3, "applied": 1])
        #expect(run.shard.statistics.activities == 0)
        run.apply(ride.started(4, fields: ["status": "riding"]))
        #expect(run.last?.target == .updateToken(.of(1)))
        #expect(run.shard.statistics.earlyTokens == 0)
    }

    @Test("an early token that is reported over and over takes up no more memory, and the newest counts")
    func earlyTokenIsRepeated() {
        var tokens = EarlyTokens(keptMilliseconds: 10_000_000)
        let (event, other) = (ride.token(0, .of(1)), EventBuilder(activity: "ride-2").token(0, .of(7)))
        let isOtherKept = tokens.keep(other, nowMilliseconds: 0)
        #expect(isOtherKept)
        let events = (0..<200).map { ride.token(0, .of(UInt8($0))) }
        for time in 1...Int64(3 * EarlyTokens.limit) where !tokens.keep(events[Int(time % 200)], nowMilliseconds: time)
        {
            Issue.record("the report of \(time) is not kept")
        }
        #expect(tokens.count == 2 && tokens.heldPlaces <= 2 * EarlyTokens.limit)
        let now = 10_000_000 + Int64(EarlyTokens.limit)
        let isOtherKnown = tokens.hasToken(other.identifier, nowMilliseconds: now)
        let claimed = tokens.claim(event.identifier, nowMilliseconds: now)
        #expect(!isOtherKnown)
        #expect(claimed?.token == .of(UInt8(3 * EarlyTokens.limit % 200)))
    }

    @Test("an early token is forgotten after as long as an ended activity would be")
    func earlyTokenIsForgotten() {
        let run = VirtualRun(planTargets: false)
        run.apply(ride.token(0, .of(1)))
        run.apply(ride.started(12 * 3600 + 1, fields: ["status": "riding"]))
        #expect(run.decisions == ["applied": 1, "pending": 1])
    }
}

@Suite("Distances at the edges of the globe")
struct DistanceEdgeTests {
    let ride = EventBuilder()

    @Test("the deadband runs across the antimeridian as anywhere")
    func antimeridian() {
        let run = VirtualRun()
        run.apply(ride.position(0, at: Coordinate(latitude: 0, longitude: 179.9998)))
        run.apply(ride.position(20, at: Coordinate(latitude: 0, longitude: -179.9998)))  // 44 m
        run.apply(ride.position(40, at: Coordinate(latitude: 0, longitude: -179.9994)))  // 89 m
        #expect(run.decisions == ["sent": 2, "deadband": 1])
        let road = VirtualRun()
        road.apply(ride.position(0, at: Coordinate(latitude: 68.95933, longitude: 179.993481)))
        road.apply(ride.position(60, at: Coordinate(latitude: 68.954544, longitude: -179.954919)))  // 2,128 m
        #expect(road.decisions == ["sent": 2])
    }

    @Test("standing on the pole while the longitude spins sends nothing")
    func pole() {
        let run = VirtualRun(.with { $0.refresh = false })
        for step in 0..<9 {
            run.apply(
                ride.position(Double(step) * 20, at: Coordinate(latitude: 90, longitude: Double(step) * 40 - 180)))
        }
        #expect(run.sends.count == 1)
    }

    @Test("equal places, and places millimeters apart, are inside")
    func tinyDistances() {
        let run = VirtualRun()
        run.apply(ride.position(0, at: Coordinate(latitude: 40.71199035644531, longitude: -74.0081)))
        run.apply(ride.position(20, at: Coordinate(latitude: 40.71199035644531, longitude: -74.0081)))
        #expect(run.decisions == ["sent": 1, "deadband": 1])
        let near = VirtualRun()
        near.apply(ride.position(0, at: Coordinate(latitude: 43.647862, longitude: -79.39290290000002)))
        near.apply(ride.position(20, at: Coordinate(latitude: 43.647862, longitude: -79.392903)))
        #expect(near.decisions == ["sent": 1, "deadband": 1])
    }

    @Test("the cheap bound never lies below the great circle")
    func bound() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<20_000 {
            let near = Bool.random(using: &random)
            let latitude = Double.random(in: -90...90, using: &random)
            let longitude = Double.random(in: -180...180, using: &random)
            let reach = near ? 0.002 : 180.0
            let other = Fix(
                latitude: min(90, max(-90, latitude + Double.random(in: -reach...reach, using: &random))),
                longitude: min(180, max(-180, longitude + Double.random(in: -reach...reach, using: &random))),
                accuracyMeters: .nan)
            let fix = Fix(latitude: latitude, longitude: longitude, accuracyMeters: .nan)
            let meters = fix.coordinate.distanceMeters(to: other.coordinate)
            if fix.distanceBoundMeters(to: other) < meters { Issue.record("\(fix) \(other)") }
        }
    }
}
