import Telemetry
import Testing

@testable import Pacing

/// Goal: a rolling upgrade. What a program of before wrote is read, goes on as it was left, and is written in the newer format.
///
/// Method: bytes that the program of format 1 wrote, kept as they were.
@Suite("Checkpoints of the release before")
struct CheckpointUpgradeTests {
    private let ride = EventBuilder()
    private let identifier = Array("ride-1".utf8)

    private func bench(
        _ name: String, _ pacing: PacingSettings = .defaults, apps: [String] = [], at seconds: Double = 20
    ) throws -> CheckpointBench {
        let bench = CheckpointBench(pacing, apps: apps)
        bench.now = EventBuilder.milliseconds(seconds)
        try bench.restore(identifier, from: bytes(name))
        return bench
    }

    private func view(_ bench: CheckpointBench) throws -> ActivityView {
        try #require(identifier.withUnsafeBytes { bench.shard.view(of: $0, at: bench.instant) })
    }

    @Test(
        "a position that was held aside is borne out by the next; all that was known is written again, and read again")
    func heldAside() throws {
        let bench = try bench("heldAside", .with { $0.renew = true }, apps: ["courier", "rides"])
        let before = try view(bench)
        #expect(before.attributesType == "Ride")
        #expect(before.app == "rides")
        #expect(before.target == .updateToken(.of(1)))
        #expect(before.contentState?[FieldPath("stops")] == 3)
        bench.apply(ride.position(21, north: 505), offset: 10)
        #expect(bench.last?.reasons == .distance)
        #expect(bench.last?.sequence == 2)
        bench.saveAll()
        #expect(bench.store[identifier]?.bytes.first == CheckpointFormat.version)
        bench.changeOwner()
        #expect(try view(bench).contentState == bench.last?.contentState)
        #expect(bench.followers.keys.map { String(decoding: $0, as: UTF8.self) } == ["bus-7"])
        bench.apply(ride.position(3, north: 900), offset: 8)
        #expect(bench.shard.decisions[.duplicate] == 1)
    }

    @Test("a start whose outcome nobody knows is not repeated")
    func startInFlight() throws {
        let bench = try bench("startInFlight")
        bench.pump()
        #expect(bench.updates.isEmpty)
        #expect(try view(bench).stage == .waitingForToken)
        bench.apply(ride.token(21, .of(1)))
        #expect(bench.last?.kind == .update)
        #expect(bench.last?.contentState[FieldPath("status")] == "new")
    }

    @Test("one without a target waits for its token")
    func withoutTarget() throws {
        let bench = try bench("withoutTarget")
        bench.pump()
        #expect(bench.updates.isEmpty)
        bench.apply(ride.token(21, .of(1)))
        #expect(bench.last?.reasons == [.status, .alert, .distance])
    }

    @Test("a token that came before its activity is there when that begins")
    func earlyToken() throws {
        let bench = try bench("earlyToken")
        bench.apply(ride.status(21, "riding"))
        #expect(bench.last?.target == .updateToken(.of(3)))
    }

    @Test("an end that was on its way is told")
    func endInFlight() throws {
        let bench = try bench("endInFlight")
        bench.pump()
        #expect(bench.last?.kind == .end)
        #expect(bench.last?.dismissal == .at(milliseconds: EventBuilder.milliseconds(300)))
    }

    @Test("what has ended stays ended")
    func ended() throws {
        let bench = try bench("ended")
        bench.apply(ride.status(21, "riding"))
        #expect(bench.shard.decisions[.afterEnd] == 1)
    }

    @Test("one whose token was gone waits for another")
    func gone() throws {
        let bench = try bench("gone")
        bench.pump()
        #expect(bench.updates.isEmpty)
        bench.apply(ride.token(21, .of(2)))
        #expect(bench.last?.reasons == [.status, .retarget])
    }

    @Test("who does not own it sees it as well, and is not told how old that is")
    func seen() throws {
        let bytes = bytes("heldAside")
        let view = try identifier.span.withUnsafeBytes { identifier throws(CheckpointFault) in
            try bytes.span.withUnsafeBytes { bytes throws(CheckpointFault) in
                try ActivityView(
                    checkpoint: bytes, of: identifier, settings: ShardSettings(apps: ["courier", "rides"]),
                    at: Instant(milliseconds: EventBuilder.milliseconds(20)))
            }
        }
        #expect(view?.asOfMilliseconds == nil)
        #expect(view?.contentState?[FieldPath("sequenceNumber")] == 1)
        #expect(view?.sequence == 1)
    }

    private func bytes(_ name: String) -> [UInt8] {
        let digits = Array(CheckpointUpgradeTests.written[name, default: ""])
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
    }

    private static let written: [String: String] = [
        "heldAside": """
        01002a0000006d0801000000000000000900000000000000000000000000c049409a9999999999b9bf0000000000002040e8\
        0509cf9c0100000000000000c049409a9999999999b9bf00000000000020401a7b22737461747573223a226e6577222c2273\
        746f7073223a337d000100000041d5ad6900000000e80509cf9c010207e80509cf9c01000209cf9c01000000000120010101\
        0101010101010101010101010101010101010101010101010101010101000209cf9c010001972c6757668b4a9e0104526964\
        65000105726964657301056275732d3700000001000000000000004001200808080808080808080808080808080808080808\
        08080808080808080808080800000000000000f07f0187e03a5893c049409a9999999999b9bf000000000000f87f00000000\
        0000f87f000000000000f87f000000000000f87fd00909cf9c010000000205000000000000000600000000000000211cfaf5
        """,
        "startInFlight": """
        0100160000000c000100000000000000030000000000000000000000000000f87f000000000000f87f000000000000f87f00\
        00000000000080000000000000f87f000000000000f87f000000000000f87f107b22737461747573223a226e6577227d027b\
        7d01000000000000f87f000000000000f87f000000000000f87f000000000000f87f00000000000000804100000040d5ad69\
        00000000000209cf9c010103000209cf9c01000209cf9c010000000000000209cf9c010001d23a2b586a1940b80104526964\
        65010d7b226f726465724964223a377d000001010673746174757301167b227469746c65223a224f6e207468652077617922\
        7d00000000000000000000f07f00000e595d71
        """,
        "withoutTarget": """
        010032000000000001000000000000000400000000000000000000000000c049409a9999999999b9bf000000000000f87fe8\
        0509cf9c010000000000000000f87f000000000000f87f000000000000f87f107b22737461747573223a226e6577227d027b\
        7d000000000000000000000000800000000000800104000000000000000209cf9c0100000000000000000000800001491be9\
        5ce1cc3dcb01045269646500000001010673746174757301167b227469746c65223a224f6e2074686520776179227d000000\
        00000000000000f07f000085fb4875
        """,
        "earlyToken": """
        010101200303030303030303030303030303030303030303030303030303030303030303881509cf9c0100000101881509cf\
        9c010000fc33ad96
        """,
        "endInFlight": """
        0100130000002d1a0100000000000000ffffffffffffffff00000000000000f87f000000000000f87f000000000000f87f00\
        00000000000080000000000000f87f000000000000f87f000000000000f87f127b22737461747573223a227468657265227d\
        107b22737461747573223a226e6577227d01000000000000f87f000000000000f87f000000000000f87f000000000000f87f\
        00000000000000804100000049d5ad6900000000282509cf9c010103282509cf9c01282509cf9c0100000000012001010101\
        01010101010101010101010101010101010101010101010101010101000209cf9c0100000104526964650000000101067374\
        617475730001e0950dcf9c010000000000000000000000f07f0000496086fd
        """,
        "ended": """
        0100290000002d180100000000000000ffffffffffffffff00000000000000f87f000000000000f87f000000000000f87f00\
        00000000000080000000000000f87f000000000000f87f000000000000f87f027b7d000100000049d5ad6900000000282509\
        cf9c010103282509cf9c01282509cf9c01000000000120010101010101010101010101010101010101010101010101010101\
        0101010101000209cf9c010000010452696465000000000000000000000000000000f07f0000258e9ead
        """,
        "gone": """
        01003000000029000100000000000000ffffffffffffffff00000000000000f87f000000000000f87f000000000000f87f00\
        00000000000080000000000000f87f000000000000f87f000000000000f87f117b22737461747573223a226e656172227d10\
        7b22737461747573223a226e6577227d000100000049d5ad6900000000282509cf9c010103282509cf9c01000209cf9c0100\
        00000000000209cf9c010120010101010101010101010101010101010101010101010101010101010101010101eb29320e3c\
        a118220104526964650000000101067374617475730000000000000000000000f07f0000780f614b
        """,
    ]
}
