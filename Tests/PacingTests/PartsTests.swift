import Telemetry
import Testing

@testable import Pacing

@Suite("SHA-1 and UUIDs")
struct SHA1Tests {
    private func hex(_ text: String) -> String {
        let words = Array(text.utf8).withUnsafeBytes { SHA1.digest($0) }
        return [words.0, words.1, words.2, words.3, words.4].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    @Test("the vectors of FIPS 180")
    func vectors() {
        #expect(hex("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
        #expect(hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "84983e441c3bd26ebaae4aa1f95129e5e54670f1")
        #expect(hex(String(repeating: "a", count: 1_000)) == "291e9a6c66994949b57ba5e650361e98fc36b1ba")
        // Lengths around which the padding takes another block; compared with Python's hashlib.
        #expect(hex(String(repeating: "b", count: 55)) == "4d055f5334ac4bca50260deff4707cd8d4fc1454")
        #expect(hex(String(repeating: "b", count: 56)) == "049adea016c8a8e3b7a9054aeeaa8643453bebd9")
        #expect(hex(String(repeating: "b", count: 63)) == "956b36ade6e3e4b7818ced2d611fb95e8abc2bd0")
        #expect(hex(String(repeating: "b", count: 64)) == "9d682ff9a7018603023176b8c12926c6a15510ee")
        #expect(hex(String(repeating: "b", count: 65)) == "af8615a17a61c9bc8fec267292a3abde6a482f0b")
    }

    @Test("the example of RFC 9562: www.example.com in the DNS name space")
    func example() {
        let dns = APNsIdentifier(high: 0x6BA7_B810_9DAD_11D1, low: 0x80B4_00C0_4FD4_30C8)
        let identifier = Array("www.example.com".utf8).withUnsafeBytes { APNsIdentifier(nameSpace: dns, name: $0) }
        #expect(identifier.description == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
    }

    @Test("an update's id names its activity and its sequence, the largest too")
    func sequences() {
        let nameSpace = APNsIdentifier.nameSpace
        for sequence in [1, 9, 10, 4_711, UInt64.max] {
            let activity = Array("ride-7".utf8)
            let expected = (activity + [0xFF] + Array(String(sequence).utf8)).withUnsafeBytes {
                APNsIdentifier(nameSpace: nameSpace, name: $0)
            }
            #expect(activity.withUnsafeBytes { APNsIdentifier(activity: $0, sequence: sequence) } == expected)
        }
    }
}

@Suite("The timing wheel")
struct TimingWheelTests {
    private func activities(_ count: Int) -> ActivitySlab {
        var slab = ActivitySlab()
        for index in 0..<count { _ = slab.allocate(named("ride-\(index)")) }
        return slab
    }

    /// Against a sorted list: random arming, moving, disarming and advancing, over milliseconds and over years.
    @Test("fires everything at its time, in order of due time, then of start", arguments: 0..<20)
    func againstSortedList(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = 200
        let slab = activities(count)
        let states = slab.states
        for index in 0..<UInt32(count) {
            states[index].pointee.startOrder = Int64((Int(index) * 7919) % count)
        }
        var wheel = TimingWheel()
        var expected: [UInt32: Int64] = [:]
        var now = EventBuilder.epochMilliseconds
        var batch: [UInt32] = []
        for _ in 0..<2_000 {
            let index = UInt32.random(in: 0..<UInt32(count), using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                wheel.disarm(index, states)
                let reach = [3, 100, 5_000, 200_000, 40_000_000_000].randomElement(using: &random)! as Int64
                let due = now + Int64.random(in: -2...reach, using: &random)
                wheel.arm(index, dueMilliseconds: due, states)
                expected[index] = due
            case 2:
                wheel.disarm(index, states)
                expected[index] = nil
            default:
                now += [0, 1, 50, 3_000, 100_000].randomElement(using: &random)! as Int64
                var fired: [UInt32] = []
                while wheel.popDue(nowMilliseconds: now, states, into: &batch) {
                    fired += batch
                }
                let due = expected.filter { $0.value <= now }.map(\.key).sorted {
                    (expected[$0]!, states[$0].pointee.startOrder) < (expected[$1]!, states[$1].pointee.startOrder)
                }
                #expect(fired == due, "seed \(seed)")
                for index in fired { expected[index] = nil }
            }
            if let next = wheel.nextDueMilliseconds, let least = expected.values.min() { #expect(next <= least) }
            #expect((wheel.nextDueMilliseconds == nil) == expected.isEmpty)
        }
    }

    @Test("without disarming, the next due time is exact")
    func nextDue() {
        let slab = activities(3)
        let states = slab.states
        var wheel = TimingWheel()
        let dues: [Int64] = [1_773_000_015_000, 1_773_000_000_001, 1_773_028_800_000]
        for (index, due) in dues.enumerated() { wheel.arm(UInt32(index), dueMilliseconds: due, states) }
        var batch: [UInt32] = []
        for index in [1, 0, 2] {
            let due = dues[index]
            #expect(wheel.nextDueMilliseconds == due)
            #expect(!wheel.popDue(nowMilliseconds: due - 1, states, into: &batch))
            #expect(wheel.popDue(nowMilliseconds: due, states, into: &batch))
            #expect(batch == [UInt32(index)])
        }
        #expect(wheel.nextDueMilliseconds == nil)
    }
}

@Suite("Layout")
struct LayoutTests {
    @Test("the state of an activity is two cache lines, its event ids are two, its record is 104 bytes")
    func sizes() {
        #expect(MemoryLayout<ActivityState>.stride == 128)
        #expect(MemoryLayout<EventIdentifierRing>.stride == 128)
        #expect(MemoryLayout<StoredRecord>.stride == 104)
        // What a look at the id and a judgement inside the deadband need lies in one line each.
        #expect(MemoryLayout<ActivityState>.offset(of: \.identifier) == 64)
    }

    @Test("the place in the wheel shares its word with marks that leave it alone")
    func marks() {
        var state = ActivityState()
        state.timerSlot = 703
        #expect(!state.isAnchorForgotten && !state.mayHaveFlight)
        state.isAnchorForgotten = true
        state.timerSlot = 5
        #expect(state.isAnchorForgotten && !state.mayHaveFlight && state.timerSlot == 5)
        state.mayHaveFlight = true
        state.isAnchorForgotten = false
        #expect(!state.isAnchorForgotten && state.mayHaveFlight && state.timerSlot == 5)
    }

    @Test("names are those of the spec, reasons in the order of its table")
    func names() {
        #expect(Decision.allCases.map(\.name).contains("after_end"))
        #expect(Set(Decision.allCases.map(\.name)).count == Decision.allCases.count)
        #expect(
            Reasons(rawValue: 0x1FF).names == [
                "started", "status", "alert", "distance", "drift", "content", "retarget", "refresh", "ended",
            ])
        #expect(([.ended, .started] as Reasons).names == ["started", "ended"])
    }
}
