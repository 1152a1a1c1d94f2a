import Telemetry
import Testing

@testable import Pacing

@Suite("Is the phone wrong enough?")
struct JudgementTests {
    @Test("a position inside the deadband is kept, one beyond it is held by the cadence, a status is urgent")
    func opening() {
        let run = timeline(
            "a.b.c....S..|", ["a": .at(0), "b": .at(30), "c": .at(110), "S": .status("arrived")],
            sends: "a.....c..S..|", .with { $0.minIntervalMilliseconds = 6_000 })
        // b: inside the deadband · c: held until 6 s after a · S: urgent
        #expect(run.decisions == ["sent": 3, "deadband": 1])
        #expect(run.updates.map(\.reasons.names) == [["distance"], ["distance"], ["status"]])
        #expect(run.updates.map(\.sequence) == [1, 2, 3])
        #expect(run.updates.map(\.priority) == [5, 5, 10])
    }

    @Test("exactly at the threshold is inside, a hair beyond is outside")
    func strictThreshold() {
        let exact = EventBuilder.coordinate().distanceMeters(to: EventBuilder.coordinate(north: 80))
        let at = PacingSettings.with { $0.deadbandMeters = exact }
        timeline("a...................b|", ["a": .at(0), "b": .at(80)], sends: "a|", at)
        timeline(
            "a...................b|", ["a": .at(0), "b": .at(80)], sends: "a...................b|",
            .with { $0.deadbandMeters = exact.nextDown })
    }

    @Test("a move that cannot be seen is unchanged; a refresh that was due behind it leaves at once")
    func refreshBehindUnchanged() {
        let run = VirtualRun(.with { $0.positionFields = [] })
        run.apply(EventBuilder().position(0))
        run.apply(EventBuilder().position(200, north: 100))
        #expect(run.sends.map(\.seconds) == [0, 200])
        #expect(run.last?.reasons == .refresh)
        #expect(run.decisions == ["sent": 1, "unchanged": 1])
    }

    @Test("an object that loses its last member differs in that member alone")
    func emptiedObject() {
        let run = VirtualRun(.with { $0.tolerances = [FieldTolerance(field: FieldPath("courier.eta"), tolerance: 5)] })
        run.apply(EventBuilder().started(0, .updateToken(.of(1)), fields: ["courier": .object(["eta": 10])]))
        run.apply(EventBuilder().status(1, fields: ["courier": .object(["eta": nil])]))
        #expect(run.last?.reasons == .drift)
    }

    @Test("an object that appears where the engine writes anyway is no difference")
    func objectUnderWrittenField() {
        let run = VirtualRun(
            .with { $0.positionFields = [PositionField(source: .accuracy, field: FieldPath("courier.accuracy"))] })
        run.apply(EventBuilder().position(0, accuracy: 5))
        run.apply(EventBuilder().status(20, fields: ["courier": .object(["name": nil])]))
        #expect(run.decisions == ["sent": 1, "applied": 1])
    }

    @Test("slow drift adds up, since the anchor is what was sent")
    func slowDrift() {
        timeline(
            "a...b...c...d...e...f|",
            ["a": .at(0), "b": .at(20), "c": .at(40), "d": .at(60), "e": .at(80), "f": .at(100)],
            sends: "a...............e....|")
    }

    @Test("hours of parked jitter send nothing")
    func parkedJitter() {
        let run = VirtualRun(.with { $0.refresh = false })
        var random = SeededGenerator(seed: 7)
        for minute in 0..<(8 * 60 - 1) {
            let north = Double.random(in: -30...30, using: &random)
            run.apply(EventBuilder().position(Double(minute) * 60, north: north))
        }
        #expect(run.sends.count == 1)
    }

    @Test("both accuracies widen the deadband up to the ceiling")
    func accuracyAware() {
        let acts: [Character: Act] = [
            "a": .at(0, accuracy: 60), "b": .at(110, accuracy: 60), "c": .at(125, accuracy: 60),
            "d": .at(190, accuracy: 150), "e": .at(330, accuracy: 199),
        ]
        // 60 + 60 = 120: b inside, c outside
        timeline(
            "a...............b...............c|", acts, sends: "a................................|".replacingLast("c"))
        // 60 + 150 = 210, cut to 200: d inside; 60 + 199 cut to 200: e outside
        timeline(
            "a...............d...............e|", acts, sends: "a................................|".replacingLast("e"))
    }

    @Test("accuracy does not narrow the deadband, and means nothing where switched off")
    func accuracyBounds() {
        timeline(
            "a...............b|", ["a": .at(0, accuracy: 1), "b": .at(70, accuracy: 1)], sends: "a|")
        timeline(
            "a...............b|", ["a": .at(0, accuracy: 60), "b": .at(80, accuracy: 60)],
            sends: "a...............b|", .with { $0.accuracyAware = false })
    }

    @Test("a fix that is more than twice as sure as the one shown counts against the bare deadband")
    func betterFix() {
        timeline(
            "a...............b|", ["a": .at(0, accuracy: 100), "b": .at(80, accuracy: 49)],
            sends: "a...............b|")
        timeline("a...............b|", ["a": .at(0, accuracy: 100), "b": .at(80, accuracy: 50)], sends: "a|")
    }

    @Test("while an update waits its threshold never rises")
    func smallestThreshold() {
        // b is 100 m out and sure; c, 110 m out, is so vague that it alone would not count.
        let run = timeline(
            "a....b....c.....|", ["a": .at(0), "b": .at(100), "c": .at(110, accuracy: 190)],
            sends: "a..............c.|")
        #expect(run.decisions == ["sent": 2, "conflated": 1])
        // Without b waiting, c is inside.
        timeline("a.........c.....|", ["a": .at(0), "c": .at(110, accuracy: 190)], sends: "a|")
    }

    @Test("a status equal to what is shown is applied and sends nothing; A, B, A sends three times")
    func statusTransitions() {
        let run = timeline(
            "A.A.B.A.|", ["A": .status("waiting"), "B": .status("riding")], sends: "A...B.A.|")
        #expect(run.decisions == ["sent": 3, "applied": 1])
    }

    @Test("a tolerance is reached, not passed; the field's coming, going and changing type count")
    func drift() {
        let acts: [Character: Act] = [
            "a": .fields(["etaTimestamp": 1000]), "b": .fields(["etaTimestamp": 1059]),
            "c": .fields(["etaTimestamp": 1060]), "n": .fields(["etaTimestamp": nil]),
            "s": .fields(["etaTimestamp": "soon"]),
        ]
        timeline("a...............b|", acts, sends: "a|")
        let run = timeline(
            "a...............c...............n...............s|", acts,
            sends: "a...............c...............n...............s|")
        #expect(run.updates.allSatisfy { $0.reasons == .drift })
    }

    @Test("a tolerance of 0.05 is reached by 0.15 − 0.1, whatever doubles make of it")
    func driftRounding() {
        timeline(
            "a...............b|",
            ["a": .fields(["progressPercentage": 0.1]), "b": .fields(["progressPercentage": 0.15])],
            sends: "a...............b|")
        timeline(
            "a...............b|",
            ["a": .fields(["progressPercentage": 0.7]), "b": .fields(["progressPercentage": 0.75])],
            sends: "a...............b|")
    }

    @Test("another field counts when a status sets it; when only positions set it, it rides along")
    func content() {
        let run = timeline(
            "a...............b...............s|",
            ["a": .at(0), "b": .at(1, fields: ["speedText": "fast"]), "s": .fields(["driver": "Ann"])],
            sends: "a...............................s|")
        #expect(run.last?.reasons == .content)
        #expect(run.last?.contentState[FieldPath("speedText")] == "fast")
    }

    @Test("what rode along with positions is told at the latest when the phone would call it stale")
    func staleContent() {
        let run = timeline(
            "a.b...............................................|",
            ["a": .at(0), "b": .at(1, fields: ["speedText": "fast"])],
            sends: "a.................b................................|", secondsPerCharacter: 10,
            .with { $0.refresh = false })
        #expect(run.last?.reasons == .content)
    }

    @Test("the longest name that covers a field counts, and discrete before tolerances")
    func longestName() {
        let settings = PacingSettings.with {
            $0.discrete = [FieldPath("driver"), FieldPath("eta")]
            $0.tolerances = [
                FieldTolerance(field: FieldPath("driver.rating"), tolerance: 1),
                FieldTolerance(field: FieldPath("eta"), tolerance: 60),
            ]
        }
        let run = timeline(
            "a.n.r.e.|",
            [
                "a": .fields(["driver": .object(["name": "Ann", "rating": 4]), "eta": 10]),
                "n": .fields(["driver": .object(["name": "Bob"])]),
                "r": .fields(["driver": .object(["rating": 4.5])]), "e": .fields(["eta": 11]),
            ], sends: "a.n...e.|", settings)
        #expect(run.updates.allSatisfy { $0.reasons.contains(.status) })
    }

    @Test("position fields are judged by distance alone, and the mapping wins over the producer")
    func positionFields() {
        let run = timeline(
            "a...............s...............b|",
            ["a": .at(0), "s": .fields(["latitude": 1]), "b": .at(100)],
            sends: "a...............................b|")
        let state = run.last?.contentState
        #expect(state?[FieldPath("latitude")]?.asDouble == 51.5009)
        #expect(state?[FieldPath("longitude")] == -0.1)
        #expect(state?[FieldPath("sequenceNumber")] == 2)
    }

    @Test("where no position is known the mapped name is the producer's")
    func mappedNameWithoutPosition() {
        let run = timeline("s|", ["s": .fields(["latitude": 1])], sends: "s|")
        #expect(run.last?.contentState[FieldPath("latitude")] == 1)
        #expect(run.last?.position == nil)
    }

    @Test("the mapping writes what the newest position has, and nothing for what it lacks")
    func mappedMotion() {
        let settings = PacingSettings.with {
            $0.positionFields = [
                PositionField(source: .speed, field: FieldPath("motion.speed")),
                PositionField(source: .heading, field: FieldPath("motion.heading")),
                PositionField(source: .accuracy, field: FieldPath("accuracy")),
                PositionField(source: .positionTimestamp, field: FieldPath("seenAt")),
            ]
        }
        let run = VirtualRun(settings)
        run.apply(EventBuilder().position(0.25, accuracy: 12.5, speed: 7))
        #expect(
            run.last?.contentState
                == ContentState([
                    "motion": .object(["speed": 7]), "accuracy": 12.5, "seenAt": 1_773_000_000.25,
                    "sequenceNumber": 1,
                ]))
    }

    @Test("a move that would change nothing on the phone is unchanged: the anchor moves, nothing is sent")
    func unchanged() {
        let settings = PacingSettings.with { $0.positionFields = [] }
        let run = timeline(
            "S..a................b................c|",
            ["S": .status("riding"), "a": .at(0), "b": .at(100), "c": .at(150)], sends: "S|", settings)
        // c is 150 m from a, but 50 m from b, where the anchor went.
        #expect(run.decisions == ["sent": 1, "unchanged": 2, "deadband": 1])
    }

    @Test("a state that was never shown is equal to nothing")
    func neverShown() {
        let run = timeline("a|", ["a": .at(0)], sends: "a|", .with { $0.positionFields = [] })
        #expect(run.last?.contentState == ContentState(["sequenceNumber": 1]))
    }

    @Test("a relevance score is sticky and by itself sends nothing")
    func relevance() {
        let run = timeline(
            "a.r.............b|", ["a": .at(0), "r": .relevance(80), "b": .at(100)], sends: "a...............b|")
        #expect(run.last?.relevanceScore == 80)
        #expect(run.decisions == ["sent": 2, "applied": 1])
    }

    @Test("a refresh leaves the lead before stale, if anything was heard since the last send")
    func refresh() {
        let run = timeline(
            "a..b..............................|", ["a": .at(0), "b": .at(10)],
            sends: "a..............b..................|", secondsPerCharacter: 10)
        #expect(run.last?.reasons == .refresh)
        #expect(run.last?.isUrgent == false)
        timeline("a................................|", ["a": .at(0)], sends: "a|", secondsPerCharacter: 10)
        // Heard later than that: at once.
        timeline(
            "a....................b...........|", ["a": .at(0), "b": .at(10)], sends: "a....................b|",
            secondsPerCharacter: 10)
        timeline(
            "a..b.............................|", ["a": .at(0), "b": .at(10)], sends: "a|", secondsPerCharacter: 10,
            .with { $0.refresh = false })
    }

    @Test("for an activity that began on the phone its start counts as the first send, for the refresh")
    func refreshAfterPhoneStart() {
        let run = timeline(
            "s..r..............................|",
            ["s": .started(.updateToken(.of(1)), fields: ["status": "riding"]), "r": .relevance(1)],
            sends: "...............r..................|", secondsPerCharacter: 10, planTargets: false)
        #expect(run.last?.reasons == .refresh)
    }
}

extension String {
    /// The last second but the end of the recording, replaced.
    func replacingLast(_ letter: Character) -> String {
        String(dropLast(2)) + String(letter) + "|"
    }
}
