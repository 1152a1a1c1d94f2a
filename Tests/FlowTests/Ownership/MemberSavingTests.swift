import LiveActivities
import Pacing
import Telemetry
import Testing

@testable import Flow

@Suite("What a member saves, loads and forgets")
struct MemberSavingTests {
    private func position(_ bench: GroupBench) -> Int64? { bench.store.partitions[0]?.positions[0]?.offset }

    @Test("Positions pass what is settled, and wait for what is not")
    func positions() {
        let bench = GroupBench()
        bench.join("a")
        bench.pass(300)
        bench.begin("ride")
        bench.pass(300)
        #expect(position(bench) == 1)
        bench.answer = { _ in nil }
        bench.status("ride", "near")
        bench.begin("other")
        bench.pass(1_000)
        #expect(position(bench) == 1)
        bench.answerAll()
        bench.pass(1_000)
        #expect(position(bench) == 3)
    }

    @Test("for so long at most: then the checkpoint has it, and the position goes on")
    func age() {
        let bench = GroupBench()
        let seat = bench.join("a") { $0.maxUncommittedAgeMilliseconds = 20_000 }
        bench.pass(300)
        bench.begin("ride")
        bench.answer = { _ in nil }
        bench.status("ride", "near")
        bench.pass(15_000)
        #expect(position(bench) == 1)
        bench.pass(8_000)
        #expect(position(bench) == 2)
        #expect(seat.member.counts.checkpointsForced == 1)
        // What comes then holds again.
        bench.status("ride", "there")
        bench.pass(1_000)
        #expect(position(bench) == 2)
        bench.remove(seat)
        bench.answer = { _ in ProviderAnswer(status: 200) }
        bench.join("b")
        bench.pass(15_000)
        #expect(bench.statuses(of: "ride").last == "there")
    }

    @Test("and for so many records")
    func records() {
        let bench = GroupBench()
        bench.join("a") { $0.maxUncommittedRecords = 200 }
        bench.pass(300)
        bench.begin("ride")
        bench.answer = { _ in nil }
        bench.status("ride", "near")
        for _ in 0..<190 { bench.publish("status", "ride", #""contentState":{"other":1}"#) }
        bench.pass(3_000)
        #expect(position(bench) == 1)
        for _ in 0..<20 { bench.publish("status", "ride", #""contentState":{"other":1}"#) }
        bench.pass(3_000)
        #expect((position(bench) ?? 0) > 100)
    }

    @Test("What came due while nobody owned the partition is sent by the next owner, though no event comes")
    func dueWithoutEvent() {
        let bench = GroupBench()
        let first = bench.join("a")
        bench.pass(300)
        for number in 0..<1_200 { bench.begin("ride-\(number)") }
        bench.answer = { _ in nil }
        for number in 0..<1_200 { bench.status("ride-\(number)", "near") }
        bench.pass(130_000)
        bench.remove(first)
        bench.answer = { _ in ProviderAnswer(status: 200) }
        let before = bench.pushes.count
        let second = bench.join("b")
        bench.pass(15_000)
        #expect(bench.owned(by: second) == [0])
        #expect(bench.pushes.count - before == 1_200)
    }

    @Test("Beyond the limit activities that rest leave memory, and come back with their next event")
    func eviction() {
        let bench = GroupBench()
        let seat = bench.join("a") { $0.maxActivities = 50 }
        bench.pass(300)
        for number in 0..<200 {
            bench.begin("ride-\(number)")
            bench.status("ride-\(number)", "near")
        }
        bench.pass(12_000)
        let inMemory = seat.lane.eachShard.reduce(0) { $0 + $1.activityCount }
        #expect(inMemory <= 50)
        #expect(bench.store.partitions[0]?.checkpoints.count == 200)
        for number in 0..<200 { bench.status("ride-\(number)", "there") }
        bench.pass(12_000)
        for number in 0..<200 {
            #expect(bench.statuses(of: "ride-\(number)") == ["near", "there"])
            #expect(bench.sequences(of: "ride-\(number)") == [1, 2])
        }
        #expect(seat.member.counts.activitiesLoaded >= 150)
    }

    @Test("A batch that was prepared keeps its activities, or has them loaded again before it is applied")
    func evictedWhilePrepared() {
        let bench = GroupBench()
        let seat = bench.join("a") { $0.maxActivities = 1 }
        bench.pass(300)
        for number in 0..<3 { bench.begin("ride-\(number)") }
        let identifiers = (0..<3).map { Array("ride-\($0)".utf8) }
        let ticket = seat.member.prepare(3, partition: 0, at: bench.moment) { place in
            identifiers[place].withUnsafeBytes { bytes in
                let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
                copy.copyMemory(from: bytes)
                return (UnsafeRawBufferPointer(copy), false)
            }
        }
        for _ in 0..<40 {
            bench.pass(500)
            guard seat.member.isPrepared(ticket) else { continue }
            let shard = seat.lane.shards[seat.lane.shard(of: 0)]
            for identifier in identifiers {
                #expect(identifier.withUnsafeBytes { !shard.needsLoad($0, isSubject: false) })
            }
        }
        seat.member.finish(ticket)
        bench.pass(12_000)
        #expect(seat.lane.eachShard.reduce(0) { $0 + $1.activityCount } <= 1)
    }

    @Test("A subject's followers are loaded with its first event, and not again")
    func subjects() {
        let bench = GroupBench()
        let first = bench.join("a")
        bench.pass(300)
        bench.publish(
            "activity.started", "ride",
            #""attributesType":"Ride","status":"new","follows":"courier","token":"\#(String(repeating: "7", count: 64))""#
        )
        bench.pass(1_000)
        bench.remove(first)
        bench.pass(10_000)
        let second = bench.join("b")
        bench.pass(1_000)
        let courier = Array("courier".utf8)
        courier.withUnsafeBytes { bytes in
            let prepare = { second.member.prepare(1, partition: 0, at: bench.moment) { _ in (bytes, true) } }
            let ticket = prepare()
            #expect(!second.member.isPrepared(ticket))
            bench.pass(100)
            #expect(second.member.isPrepared(ticket))
            second.member.finish(ticket)
            let again = prepare()
            #expect(second.member.isPrepared(again))
            second.member.finish(again)
        }
        #expect(second.lane.eachShard.reduce(0) { $0 + $1.activityCount } == 1)
    }

    @Test("A take-over after an outage spreads what is routine, and keeps back nothing urgent")
    func massTakeOver() {
        let bench = GroupBench()
        let first = bench.join("a")
        bench.pass(300)
        for number in 0..<100 {
            bench.begin("ride-\(number)")
            bench.publish("position", "ride-\(number)", #""latitude":48,"longitude":11"#)
        }
        bench.pass(20_000)
        #expect(bench.pushes.count == 100)
        bench.remove(first)
        bench.pass(40_000)
        for number in 0..<100 {
            if number < 10 {
                bench.status("ride-\(number)", "near")
            } else {
                bench.publish("position", "ride-\(number)", #""latitude":48.01,"longitude":11"#)
            }
        }
        bench.join("b")
        bench.pass(500)
        #expect(bench.pushes.dropFirst(100).filter(\.update.isUrgent).count == 10)
        #expect(bench.pushes.count < 120)
        bench.pass(61_000)
        #expect(bench.pushes.count == 200)
    }

    @Test("An idle member asks for little, and no moment asks for another")
    func idle() {
        let bench = GroupBench(partitions: 8)
        bench.join("a")
        bench.pass(2_000)
        let before = bench.store.asked
        bench.pass(10_000)
        let asked = bench.store.asked.mapValues { $0 }.merging(before) { $0 - $1 }
        #expect(asked["save"] == nil)
        #expect(asked["beat"] == 40)
        #expect(asked["renew"] == 32)
        #expect((asked["loadDue"] ?? 0) <= 88)
    }
}
