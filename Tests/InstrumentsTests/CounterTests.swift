import Testing

@testable import Instruments

enum Decision: String, MetricLabel {
    static let labelName = "decision"
    case sent, deadband
    case outOfOrder = "out_of_order"
}

enum Urgency: String, MetricLabel {
    static let labelName = "class"
    case routine, urgent
}

enum Only: String, MetricLabel {
    static let labelName = "only"
    case one
}

@Suite struct CounterTests {
    @Test func theSumOfAllWritersAndTheSharedPartIsRead() {
        let decisions = Registry().counter("waypulse_decisions_total", by: Decision.self, help: "Decisions.")
        let lanes = [decisions.writer(), decisions.writer()]
        lanes[0].add(2, .sent)
        lanes[1].add(3, .sent)
        lanes[1].add(1, .outOfOrder)
        decisions.add(1, .sent)
        #expect(decisions.total(.sent) == 6)
        #expect(decisions.total(.deadband) == 0)
        #expect(decisions.total(.outOfOrder) == 1)
    }

    @Test func noAdditionIsLostWhenThreadsCountAtOnce() async {
        let counter = Registry().counter("waypulse_shared_total", help: "Shared.")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let own = counter.writer()
                    for _ in 0..<10_000 {
                        own.add()
                        counter.add()
                    }
                }
            }
        }
        #expect(counter.total == 80_000)
    }

    @Test func whatAWriterCountedOutlivesIt() {
        let counter = Registry().counter("waypulse_kept_total", help: "Kept.")
        do { counter.writer().add(7) }
        #expect(counter.total == 7)
    }

    @Test func gaugesOfWritersAddUpOrGiveTheirMaximum() {
        let registry = Registry()
        let activities = registry.gauge("waypulse_activities", by: Urgency.self, help: "Activities.")
        let oldest = registry.gauge("waypulse_oldest_seconds", unit: .milliseconds, isMaximum: true, help: "Oldest.")
        let (first, second) = (activities.writer(), activities.writer())
        first.set(5, .urgent)
        second.set(4, .urgent)
        second.add(-1, .urgent)
        let (old, older) = (oldest.writer(), oldest.writer())
        old.set(100)
        older.set(2500)
        #expect(activities.value(.urgent) == 8)
        #expect(activities.value(.routine) == 0)
        #expect(oldest.value == 2500)
    }

    @Test func aPairOfLabelsCrossesThem() {
        typealias Both = LabelPair<Urgency, Decision>
        #expect(Both.labelNames == ["class", "decision"])
        #expect(Both.series.count == 6)
        for urgency in Urgency.allCases {
            for decision in Decision.allCases {
                let pair = Both(urgency, decision)
                #expect(Both.series[pair.ordinal] == [urgency.rawValue, decision.rawValue])
            }
        }
        let counter = Registry().counter("waypulse_pairs_total", by: Both.self, help: "Pairs.")
        counter.add(1, Both(.urgent, .deadband))
        #expect(counter.total(Both(.urgent, .deadband)) == 1)
        #expect(counter.total(Both(.routine, .deadband)) == 0)
    }

    @Test func anEnumOfOneCaseIsALabelToo() {
        #expect(Only.series == [["one"]])
        #expect(Only.one.ordinal == 0)
    }
}
