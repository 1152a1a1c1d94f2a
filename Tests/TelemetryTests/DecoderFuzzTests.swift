import Foundation
import Testing

/// Goal: no message ends the process, and the quick ways never differ from the general ones but in speed. Method:
/// messages drawn from a seed, half of them broken, are held against `DecoderAgreement`. `FUZZ_SECONDS` says for how
/// long, from a seed drawn or given as `FUZZ_SEED`; without it a few fixed seeds are run. What is found is printed with
/// its seed and kept in `Tests/TelemetryCases`, whose files are checked on each run.
@Suite struct DecoderFuzzTests {
    private static let cases = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "TelemetryCases")
    private static let messagesPerSeed = 1000

    private func setting(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    @Test func drawnAndBrokenMessagesFindNoDispute() throws {
        var agreement = DecoderAgreement()
        var seeds = 0
        func run(_ seed: UInt64) throws -> Bool {
            seeds += 1
            var generator = EventGenerator(seed: seed)
            for _ in 0..<Self.messagesPerSeed {
                let message = generator.message()
                guard let dispute = agreement.dispute(over: message) else { continue }
                Issue.record("seed \(seed): \(dispute)\n\(String(decoding: message, as: UTF8.self).debugDescription)")
                try Data(message).write(to: Self.cases.appending(path: "seed-\(seed).json"))
                return false
            }
            return true
        }
        if let seconds = setting("FUZZ_SECONDS") {
            var seed = setting("FUZZ_SEED") ?? UInt64.random(in: 0...UInt64(UInt32.max))
            let end = ContinuousClock.now + .seconds(Int64(seconds))
            print("decoder fuzz: from seed \(seed)")
            while ContinuousClock.now < end, try run(seed) { seed += 1 }
            print("decoder fuzz: \(seeds * Self.messagesPerSeed) messages, \(agreement.quickly) of them taken quickly")
        } else {
            for seed in UInt64(1)...12 where try !run(seed) { return }
        }
        // Else the comparison would have compared nothing.
        #expect(agreement.quickly > seeds * Self.messagesPerSeed / 20)
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
