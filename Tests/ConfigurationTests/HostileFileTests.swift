import Testing

@testable import Configuration

/// Goal: no file, however broken, does more than fail with faults that point into it. Method: the complete file with
/// all examples, and in each round a few bytes replaced, removed, doubled or swapped for what YAML holds special.
@Suite struct HostileFileTests {
    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func aBrokenFileFailsWithFaultsInsideIt(_ seed: UInt64) {
        var numbers = Numbers(state: seed)
        let whole = Array((courierApp + Configuration.defaults).utf8)
        let special = Array("&*!|>%@`\"'#{}[],:?-\t\n\u{0}\u{7F}".utf8) + [0xFF, 0xC3, 0xED]
        for _ in 0..<40 {
            var bytes = whole
            for _ in 0...Int.random(in: 0...4, using: &numbers) {
                let place = Int.random(in: 0..<bytes.count, using: &numbers)
                switch Int.random(in: 0...3, using: &numbers) {
                case 0: bytes[place] = special.randomElement(using: &numbers)!
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(special.randomElement(using: &numbers)!, at: place)
                default: bytes.insert(contentsOf: bytes[place..<min(place + 40, bytes.count)], at: place)
                }
            }
            let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
            do throws(ConfigurationFaults) {
                _ = try Configuration(file: ConfigurationFile(path: "c", bytes: bytes))
            } catch {
                #expect(!error.faults.isEmpty)
                for fault in error.faults {
                    guard case .file("c", let mark) = fault.origin else {
                        Issue.record("seed \(seed): \(fault)")
                        continue
                    }
                    #expect((1...lines + 1).contains(mark.line) && mark.column >= 1, "seed \(seed): \(fault)")
                }
            }
        }
    }

    @Test func flagsAndVariablesOfEveryShapeFailWithFaults() {
        let values = [
            "", "=", ",", ",,=", "a=", "=a", "off", "1e999", "-0", "\u{0}", "99999999999999999999", "{", "[a]", "👩‍👩‍👧",
            "1,2",
        ]
        for option in Options.all where option.scope == .process || option.scope == .overridable {
            for value in values {
                let byFlag = faults(flags: ["\(option.key)=\(value)"])
                let byVariable = faults(environment: [VariableName.of(option.key): value])
                #expect(byFlag.isEmpty == byVariable.isEmpty, "\(option.key)=\(value)")
            }
        }
        for path in [
            "", ".", "..", "apps", "apps.", "apps..", "apps..port", "attributesTypes.X", "pacing.", ".pacing",
            "pacing.tolerances.",
        ] {
            #expect(faults(flags: ["\(path)=1"]).count >= 1, "\(path)")
        }
    }
}

/// Marsaglia's xorshift64: a file is the same for the same seed, for ever.
private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_f491_4f6c_dd1d
    }
}
