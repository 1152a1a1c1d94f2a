import Flow
import Storage
import Telemetry
import Testing

/// What owners and the API may rely on, whichever registry there is.
@Suite("What a registry of tokens promises")
struct RegistryContractTests {
    private static let courier = ActivityPlace("courier 7", 3)
    private static let halfDay: Int64 = 12 * 3_600_000

    @Test(
        "a token that comes before its activity is told at its beginning, each time", arguments: RegistryKind.allCases)
    func before(kind: RegistryKind) throws {
        let bench = try kind.bench()
        #expect(try bench.keep("ride", KeptToken(1, at: 100, frequent: true)) == .kept)
        #expect(try bench.place("ride") == .unplaced)
        #expect(try bench.begin("ride", at: Self.courier) == KeptToken(1, at: 100, frequent: true))
        #expect(try bench.begin("ride", at: Self.courier) == KeptToken(1, at: 100, frequent: true))
    }

    @Test("a token that comes after the beginning is told where it is to go", arguments: RegistryKind.allCases)
    func after(kind: RegistryKind) throws {
        let bench = try kind.bench()
        #expect(try bench.begin("ride", at: Self.courier) == .some(nil))
        #expect(try bench.place("ride") == .placed(Self.courier))
        #expect(try bench.keep("ride", KeptToken(1, at: 100)) == .placed(Self.courier))
        #expect(try bench.takeBack("ride", PushToken(1), until: 200) == .placed(Self.courier))
        #expect(
            try bench.begin("ride", at: Self.courier) == .some(nil), "the event has it, and it is kept no second time")
    }

    @Test("of tokens before the beginning the latest counts, whatever came first", arguments: RegistryKind.allCases)
    func latest(kind: RegistryKind) throws {
        let bench = try kind.bench()
        #expect(try bench.keep("ride", KeptToken(2, at: 200)) == .kept)
        #expect(try bench.keep("ride", KeptToken(1, at: 100, frequent: false)) == .superseded)
        #expect(try bench.keep("ride", KeptToken(2, at: 200)) == .kept, "the same again")
        #expect(try bench.keep("ride", KeptToken(3, at: 200, frequent: true)) == .kept, "the same time, and later")
        #expect(try bench.keep("ride", KeptToken(4, at: 300)) == .kept)
        #expect(try bench.begin("ride", at: Self.courier) == KeptToken(4, at: 300, frequent: true))
    }

    @Test(
        "what is taken back is not told, and a registration that was held up does not bring it back",
        arguments: RegistryKind.allCases)
    func takenBack(kind: RegistryKind) throws {
        let bench = try kind.bench()
        _ = try bench.keep("ride", KeptToken(1, at: 100))
        #expect(try bench.takeBack("ride", PushToken(2), until: 500) == .kept, "another's is no matter")
        #expect(try bench.takeBack("ride", PushToken(1), until: 99) == .superseded)
        #expect(try bench.takeBack("ride", PushToken(1), until: 100) == .kept)
        #expect(try bench.keep("ride", KeptToken(1, at: 100)) == .superseded)
        #expect(try bench.begin("ride", at: Self.courier) == .some(nil))

        _ = try bench.keep("other", KeptToken(1, at: 100))
        #expect(try bench.takeBack("other", nil, until: 150) == .kept)
        #expect(try bench.keep("other", KeptToken(2, at: 150)) == .superseded)
        #expect(try bench.keep("other", KeptToken(2, at: 151)) == .kept)
        #expect(try bench.takeBack("other", nil, until: 150) == .superseded)
        #expect(try bench.begin("other", at: Self.courier) == KeptToken(2, at: 151))
    }

    @Test("what was kept and is taken back after the beginning is not told again", arguments: RegistryKind.allCases)
    func takenBackLate(kind: RegistryKind) throws {
        let bench = try kind.bench()
        _ = try bench.keep("ride", KeptToken(1, at: 100))
        _ = try bench.begin("ride", at: Self.courier)
        #expect(try bench.takeBack("ride", PushToken(1), until: 200) == .placed(Self.courier))
        #expect(try bench.begin("ride", at: Self.courier) == .some(nil))
    }

    @Test("taken back before it came, a token is not taken", arguments: RegistryKind.allCases)
    func takenBackFirst(kind: RegistryKind) throws {
        let bench = try kind.bench()
        #expect(try bench.takeBack("ride", PushToken(1), until: 200) == .kept)
        #expect(try bench.keep("ride", KeptToken(1, at: 100)) == .superseded)
        #expect(try bench.keep("ride", KeptToken(2, at: 100)) == .kept)
        #expect(try bench.begin("ride", at: Self.courier) == KeptToken(2, at: 100))
    }

    @Test("registrations and a beginning lose nothing, in whatever order they come", arguments: RegistryKind.allCases)
    func anyOrder(kind: RegistryKind) throws {
        let bench = try kind.bench()
        for order in 0..<3 {
            let ride = "ride \(order)"
            var kept: KeptToken?
            var appended: [UInt8] = []
            for step in 0..<3 {
                if step == order {
                    kept = try #require(try bench.begin(ride, at: Self.courier))
                    continue
                }
                let token = UInt8(step < order ? step + 1 : step)
                if try bench.keep(ride, KeptToken(token, at: Int64(token) * 100)) == .placed(Self.courier) {
                    appended.append(token)
                }
            }
            #expect(kept == (order == 0 ? nil : KeptToken(UInt8(order), at: Int64(order) * 100)))
            #expect(appended == [[1, 2], [2], []][order])
        }
    }

    @Test("what is known of an activity ends after its end, and its token with it", arguments: RegistryKind.allCases)
    func ended(kind: RegistryKind) throws {
        let bench = try kind.bench()
        _ = try bench.keep("ride", KeptToken(1, at: 100))
        _ = try bench.begin("ride", at: Self.courier)
        try bench.end("ride", keptMilliseconds: 60_000)
        #expect(try bench.keep("ride", KeptToken(2, at: 200)) == .placed(Self.courier))
        #expect(try bench.begin("ride", at: Self.courier) == .some(nil), "another life has tokens of its own")
        try bench.end("ride", keptMilliseconds: 60_000)
        try bench.outlive("ride", atMostMilliseconds: 60_000)
        #expect(try bench.place("ride") == .unplaced)
        try bench.end("nobody", keptMilliseconds: 60_000)
        #expect(try bench.place("nobody") == .unplaced)
    }

    @Test("a token whose activity never begins is forgotten after half a day", arguments: RegistryKind.allCases)
    func neverBegun(kind: RegistryKind) throws {
        let bench = try kind.bench()
        _ = try bench.keep("ride", KeptToken(1, at: 100))
        try bench.outlive("ride", atMostMilliseconds: Self.halfDay)
        #expect(try bench.begin("ride", at: Self.courier) == .some(nil))
    }

    @Test("ids are any bytes, and tokens of any length come back as they were", arguments: RegistryKind.allCases)
    func anyBytes(kind: RegistryKind) throws {
        let bench = try kind.bench()
        let identifier: [UInt8] = Array(0...127)
        let place = ActivityPlace(key: Array((128...255).reversed()), partition: .max)
        for count in [32, 33, 80, 200] {
            let token = PushToken(bytes: (0..<count).map { UInt8($0) })
            let kept = KeptToken(
                token: token, registeredAtMilliseconds: 1_800_000_000_000 + Int64(count), frequentUpdates: false)
            #expect(try bench.ask(.keep(activity: identifier + [UInt8(count)], kept)) == .kept)
            guard case .begun(let told) = try bench.ask(.begin(activity: identifier + [UInt8(count)], place)) else {
                Issue.record("it has not begun")
                return
            }
            #expect(told == kept)
            #expect(try bench.ask(.place(activity: identifier + [UInt8(count)])) == .placed(place))
        }
    }

    // MARK: Start tokens

    @Test("the newest start token of a user and app counts, whatever came first", arguments: RegistryKind.allCases)
    func newestStart(kind: RegistryKind) throws {
        let bench = try kind.bench()
        #expect(try bench.startToken("ann") == nil)
        #expect(try bench.keepStart("ann", RegisteredStartToken(2, at: 200)) == .kept)
        #expect(try bench.keepStart("ann", RegisteredStartToken(1, at: 100)) == .superseded)
        #expect(try bench.startToken("ann") == RegisteredStartToken(2, at: 200))
        #expect(try bench.keepStart("ann", RegisteredStartToken(3, at: 300)) == .kept)
        #expect(try bench.startToken("ann") == RegisteredStartToken(3, at: 300))
        #expect(try bench.startToken("ann", app: "courier") == nil)
        #expect(try bench.startToken("bob") == nil)
        #expect(try bench.keepStart("x", app: "a:b", RegisteredStartToken(4, at: 300)) == .kept)
        #expect(try bench.startToken("b:x", app: "a") == nil, "an app's name ends where it ends")
    }

    @Test(
        "a start token is taken back by its time, and by its name where it is named", arguments: RegistryKind.allCases)
    func startTakenBack(kind: RegistryKind) throws {
        let bench = try kind.bench()
        _ = try bench.keepStart("ann", RegisteredStartToken(1, at: 100))
        #expect(try bench.takeBackStart("ann", PushToken(2), until: 500) == .kept)
        #expect(try bench.takeBackStart("ann", PushToken(1), until: 50) == .superseded)
        #expect(try bench.takeBackStart("ann", nil, until: 50) == .superseded)
        #expect(try bench.startToken("ann") == RegisteredStartToken(1, at: 100))
        #expect(try bench.takeBackStart("ann", PushToken(1), until: 100) == .kept)
        #expect(try bench.startToken("ann") == nil)
        #expect(try bench.keepStart("ann", RegisteredStartToken(1, at: 100)) == .superseded)
        #expect(try bench.keepStart("ann", RegisteredStartToken(3, at: 300)) == .kept)
        #expect(try bench.takeBackStart("ann", nil, until: 400) == .kept)
        #expect(try bench.keepStart("ann", RegisteredStartToken(4, at: 400)) == .superseded)
        #expect(try bench.startToken("ann") == nil)
    }

    @Test(
        "a start token that the provider does not know is forgotten, unless it was registered since or another has come",
        arguments: RegistryKind.allCases)
    func gone(kind: RegistryKind) throws {
        let bench = try kind.bench()
        func gone(_ token: UInt8, at: Int64) throws {
            guard
                case .done = try bench.ask(
                    .forgetStartToken(user: "ann", app: "rider", token: PushToken(token), goneAtMilliseconds: at))
            else { throw BenchFault("not done") }
        }
        _ = try bench.keepStart("ann", RegisteredStartToken(1, at: 100))
        try gone(2, at: 500)
        try gone(1, at: 99)
        #expect(try bench.startToken("ann") == RegisteredStartToken(1, at: 100))
        try gone(1, at: 150)
        #expect(try bench.startToken("ann") == nil)
        #expect(try bench.keepStart("ann", RegisteredStartToken(1, at: 120)) == .superseded, "sent before, come after")
        #expect(try bench.keepStart("ann", RegisteredStartToken(1, at: 151)) == .kept, "the phone has it again")
        #expect(try bench.startToken("ann") == RegisteredStartToken(1, at: 151))
    }

    // MARK: Budgets

    @Test(
        "so many starts a window leave for one token, and the next when the first has gone out of it",
        arguments: RegistryKind.allCases)
    func budget(kind: RegistryKind) throws {
        let bench = try kind.bench()
        let (token, budget) = (PushToken(1), StartBudget(starts: 2, windowMilliseconds: 3_600_000))
        #expect(try bench.takeStart(token, "a", budget) == nil)
        try bench.age(startsOf: token, byMilliseconds: 1_000_000)
        #expect(try bench.takeStart(token, "b", budget) == nil)
        let until = try #require(try bench.takeStart(token, "c", budget))
        let later = try #require(
            try bench.takeStart(token, "c", StartBudget(starts: 1, windowMilliseconds: 3_600_000)))
        // In Redis some milliseconds have passed besides.
        #expect(later >= until + 1_000_000)
        #expect(try bench.takeStart(token, app: "courier", "c", budget) == nil, "another app's token is another token")
        #expect(try bench.takeStart(PushToken(2), "c", budget) == nil)
        try bench.age(startsOf: token, byMilliseconds: 2_600_000)
        #expect(try bench.takeStart(token, "c", budget) == nil)
        #expect(try bench.takeStart(token, "d", budget) != nil)
        #expect(try bench.takeStart(PushToken(3), "d", StartBudget(starts: 0, windowMilliseconds: 1_000)) != nil)
    }

    @Test(
        "a start is counted once, however often it is asked for; another life's is another",
        arguments: RegistryKind.allCases)
    func oneStart(kind: RegistryKind) throws {
        let bench = try kind.bench()
        let (token, budget) = (PushToken(1), StartBudget(starts: 2, windowMilliseconds: 3_600_000))
        for _ in 0..<3 { #expect(try bench.takeStart(token, "a", budget) == nil) }
        #expect(try bench.takeStart(token, "a", life: 1, budget) == nil)
        #expect(try bench.takeStart(token, "b", budget) != nil)
        #expect(try bench.takeStart(token, "a", budget) == nil)
    }
}

@Suite("A registry in memory")
struct MemoryTokenRegistryTests {
    @Test("holds no more than twice what lives")
    func bounded() {
        let bench = MemoryRegistryBench()
        for number in 0..<20_000 {
            _ = bench.ask(.keep(activity: Array("ride \(number)".utf8), KeptToken(1, at: 100)))
            // So that some 1,000 live at a time.
            bench.age(startsOf: PushToken(1), byMilliseconds: 12 * 3_600)
        }
        #expect((1_000...4_000).contains(bench.registry.count))
    }
}
