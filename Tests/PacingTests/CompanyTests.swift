import Telemetry
import Testing

@testable import Pacing

/// Goal: nothing of one activity ever shows in another. Method: what activities share in a shard (indices that are given out again, timers,
/// queues, the vocabulary, tables of ids) they share with nobody in a shard of their own; so each is led through the same random life in company
/// and alone, with answers that come late, twice or never, and must be told the same.
@Suite("In company")
struct CompanyTests {
    private static let names = [1, 2, 7, 8, 9, 22, 23, 24, 25, 26, 31, 32, 33, 127, 128].flatMap { length in
        ["a", "b"].map { String(repeating: "x", count: length - 1) + $0 }
    }

    private struct Sent {
        let activity: Int
        let company: Ticket
        let alone: Ticket
        let kind: Update.Kind
    }

    private static func settings(seed: Int) -> ShardSettings {
        var byType: [String: PacingSettings] = [:]
        for number in 0..<4 {
            byType["Type-\(number)"] = .with {
                $0.renew = number % 2 == 0
                $0.profile = .unlimited
                $0.removeAfterMilliseconds = 600_000
                if number == 1 { $0.positionFields.append(PositionField(source: .speed, field: FieldPath("speed"))) }
            }
        }
        return ShardSettings(
            default: .with { $0.removeAfterMilliseconds = 600_000 }, byAttributesType: byType,
            planTargets: seed % 2 == 0)
    }

    @Test("an activity is told what it would be told alone", arguments: 1...4)
    func company(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let company = Shard(settings: Self.settings(seed: seed))
        let alone = Self.names.map { _ in Shard(settings: Self.settings(seed: seed)) }
        // Some of what comes still finds a place there, the rest does not.
        for number in 0..<Vocabulary.limit - 8 {
            _ = company.vocabulary.place(ofType: "other-\(number)")
            _ = company.vocabulary.place(ofFields: [FieldPath("other-\(number)")])
        }
        var open: [Sent] = []
        var former: [Sent] = []
        var sends = 0
        var now = 0.0
        for step in 0..<2_000 {
            now += random.chance(0.01) ? 700 : Double.random(in: 0...4, using: &random)
            let moment = Instant(milliseconds: EventBuilder.milliseconds(now))
            let activity = Int.random(in: Self.names.indices, using: &random)
            let event = event(activity, now, &random)
            _ = company.apply(event, offset: Int64(step), at: moment)
            _ = alone[activity].apply(event, offset: Int64(step), at: moment)
            company.fire(at: moment)
            for shard in alone { shard.fire(at: moment) }

            for sent in open where random.chance(0.4) {
                open.removeAll { $0.company == sent.company }
                let settlement = settlement(sent, &random)
                company.settle(sent.company, settlement, at: moment)
                alone[sent.activity].settle(sent.alone, settlement, at: moment)
                former.append(sent)
            }
            // Answers that come again, and retries: of some the activity is gone, and its index is another's.
            if let sent = former.randomElement(using: &random) {
                company.settle(sent.company, .accepted, at: moment)
                alone[sent.activity].settle(sent.alone, .accepted, at: moment)
            }
            for sent in former.suffix(40) where random.chance(0.1) {
                let again = company.retake(sent.company, at: moment)
                let same = alone[sent.activity].retake(sent.alone, at: moment)
                #expect(again.map(Self.text) == same.map(Self.text), "seed \(seed), step \(step)")
                if again != nil { open.append(sent) }
            }

            var told: [Int: [(ticket: Ticket, text: String, kind: Update.Kind)]] = [:]
            while company.ready(pool: 0) != nil {
                guard let update = company.take(pool: 0, at: moment) else { continue }
                let activity = Self.names.firstIndex(of: update.activityIdentifier)!
                told[activity, default: []].append((update.ticket, Self.text(update), update.kind))
            }
            for (activity, shard) in alone.enumerated() {
                var expected: [(ticket: Ticket, text: String, kind: Update.Kind)] = []
                while shard.ready(pool: 0) != nil {
                    guard let update = shard.take(pool: 0, at: moment) else { continue }
                    expected.append((update.ticket, Self.text(update), update.kind))
                }
                let found = told[activity] ?? []
                #expect(found.map(\.text) == expected.map(\.text), "seed \(seed), step \(step)")
                guard found.count == expected.count else { return }
                for (found, expected) in zip(found, expected) {
                    let sent = Sent(
                        activity: activity, company: found.ticket, alone: expected.ticket, kind: found.kind)
                    open.append(sent)
                    sends += 1
                }
            }
            #expect(company.activityCount == alone.reduce(0) { $0 + $1.activityCount }, "seed \(seed), step \(step)")
        }
        for decision in Decision.allCases {
            let expected = alone.reduce(0) { $0 + $1.decisions[decision] }
            #expect(company.decisions[decision] == expected, "seed \(seed), \(decision.name)")
        }
        #expect(company.decisions.pending == alone.reduce(0) { $0 + $1.decisions.pending })
        // It is about something.
        #expect(sends > 300)
        #expect(company.vocabulary.place(ofType: "late") == Vocabulary.apart)
        #expect(company.vocabulary.place(ofFields: [FieldPath("late")]) == Vocabulary.apart)
        #expect(company.slab.bound <= UInt32(Self.names.count))
    }

    private func event(_ activity: Int, _ now: Double, _ random: inout SeededGenerator) -> Event {
        let builder = EventBuilder(activity: Self.names[activity])
        // More types and fields than the vocabulary has places for.
        func type() -> String {
            let number = Int.random(in: 0..<500, using: &random)
            return random.chance(0.3)
                ? "Type-\(number % 4)" : number < 40 ? String(repeating: "t", count: 120 + number) : "Type-\(number)"
        }
        func fields() -> JSONObject {
            var fields = JSONObject()
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let value: JSONValue = random.chance(0.2) ? .null : .string("\(Int.random(in: 0..<3, using: &random))")
                fields["field-\(Int.random(in: 0..<400, using: &random))"] = value
            }
            if random.chance(0.3) { fields["status"] = .string("\(Int.random(in: 0..<4, using: &random))") }
            return fields
        }
        func token() -> PushToken { .of(UInt8.random(in: 1...6, using: &random)) }
        let id: UInt64 = random.chance(0.3) ? UInt64.random(in: 1...200, using: &random) : 0
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<9:
            return builder.position(
                now, north: Double.random(in: 0...400, using: &random), accuracy: 5,
                speed: random.chance(0.5) ? 3 : .nan,
                fields: random.chance(0.2) ? fields() : nil, id: id)
        case 9..<14:
            return builder.status(now, fields: fields(), alert: random.chance(0.2) ? .saying("A") : nil, id: id)
        case 14: return builder.token(now, token(), frequent: random.chance(0.3) ? random.chance(0.5) : nil, id: id)
        case 15: return builder.started(now, fields: fields(), type: type(), id: id)
        case 16: return builder.started(now, .updateToken(token()), fields: fields(), type: type(), id: id)
        case 17:
            return builder.started(
                now, .startToken(token()), fields: fields(), alert: .saying("Start"), type: type(),
                attributes: ["a": 1], renewal: random.chance(0.5) ? token() : nil, id: id)
        case 18: return builder.status(now, "near", relevance: Double.random(in: 0...9, using: &random), id: id)
        default: return builder.ended(now, fields: random.chance(0.5) ? fields() : nil, id: id)
        }
    }

    private func settlement(_ sent: Sent, _ random: inout SeededGenerator) -> Settlement {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: .refused
        case 1, 2: .retry(holdsNewer: random.chance(0.5))
        case 3: .unsent
        case 4: .targetGone
        case 5: sent.kind == .start ? .unknownStart : .accepted
        default: .accepted
        }
    }

    /// All of it but the ticket.
    private static func text(_ update: Update) -> String {
        let content = update.contentState.packed.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        return """
            \(update.activityIdentifier) \(update.attributesType ?? "-") \(update.kind) \(update.reasons.names) \
            \(update.priority) \(update.sequence) \(update.apnsIdentifier) \(update.timestampSeconds) \
            \(update.staleDateSeconds ?? 0) \(content) \(String(describing: update.alert)) \
            \(update.relevanceScore ?? 0) \(update.target) \(update.targetRegisteredAtMilliseconds) \(update.attempt) \
            \(update.attributes?.count ?? 0) \(String(describing: update.position))
            """
    }
}
