import Foundation
import Testing

/// Goal: no message ends the process, and the quick ways never differ from the general ones but in speed.
/// Method: messages drawn from a seed, half of them broken, are held against `DecoderAgreement`. The variable `WAYPULSE_FUZZ_MESSAGES` says how
/// many (`WAYPULSE_FUZZ_SEED` from where); what is found is printed with its seed and kept in `Tests/TelemetryCases`, whose files are checked on each run.
@Suite struct DecoderFuzzTests {
    private static let cases = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "TelemetryCases")

    private func setting(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    @Test func drawnAndBrokenMessagesFindNoDispute() throws {
        let first = setting("WAYPULSE_FUZZ_SEED") ?? 1
        let messages = setting("WAYPULSE_FUZZ_MESSAGES") ?? 12_000
        let messagesPerSeed: UInt64 = 1000
        var agreement = DecoderAgreement()
        for seed in first..<(first + max(1, messages / messagesPerSeed)) {
            var generator = EventGenerator(seed: seed)
            for _ in 0..<messagesPerSeed {
                let message = generator.message()
                guard let dispute = agreement.dispute(over: message) else { continue }
                Issue.record("seed \(seed): \(dispute)\n\(String(decoding: message, as: UTF8.self).debugDescription)")
                try Data(message).write(to: Self.cases.appending(path: "seed-\(seed).json"))
                return
            }
        }
        // Else the comparison would have compared nothing.
        #expect(agreement.quickly > messages / 10)
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
