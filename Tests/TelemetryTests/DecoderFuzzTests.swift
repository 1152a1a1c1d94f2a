import Foundation
import Testing

/// Goal: no message ends the process, and the quick ways never differ from the general ones but in speed. Method:
/// messages drawn from a seed, half of them broken, are held against `DecoderAgreement`. `WAYPULSE_FUZZ_MESSAGES` says how
/// many, from the seed `WAYPULSE_FUZZ_SEED` on; without it a few fixed seeds are run. What is found is printed with
/// its seed and kept in `Tests/TelemetryCases`, whose files are checked on each run.
@Suite struct DecoderFuzzTests {
    private static let cases = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "TelemetryCases")
    private static let messagesPerSeed = 1_000

    private func setting(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    @Test func drawnAndBrokenMessagesFindNoDispute() throws {
        let seeds = max(1, (setting("WAYPULSE_FUZZ_MESSAGES") ?? 12_000) / UInt64(Self.messagesPerSeed))
        let first = setting("WAYPULSE_FUZZ_SEED") ?? 1
        var agreement = DecoderAgreement()
        for seed in first..<first + seeds {
            var generator = EventGenerator(seed: seed)
            for _ in 0..<Self.messagesPerSeed {
                let (sound, message) = generator.message()
                guard let dispute = agreement.dispute(over: message, after: sound) else { continue }
                Issue.record("seed \(seed): \(dispute)\n\(String(decoding: message, as: UTF8.self).debugDescription)")
                try Data(message).write(to: Self.cases.appending(path: "seed-\(seed).json"))
                return
            }
        }
        print(
            "decoder fuzz: \(seeds * UInt64(Self.messagesPerSeed)) messages, \(agreement.quickly) of them taken quickly"
        )
        // Else the comparison would have compared nothing.
        #expect(agreement.quickly > Int(seeds) * Self.messagesPerSeed / 20)
    }

    @Test func whatWasFoundOnceStaysFixed() throws {
        let files = try FileManager.default.contentsOfDirectory(at: Self.cases, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            var agreement = DecoderAgreement()
            let dispute = agreement.dispute(over: Array(try Data(contentsOf: file)))
            #expect(dispute == nil, "\(file.lastPathComponent)")
        }
    }
}
