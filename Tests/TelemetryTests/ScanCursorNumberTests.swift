import Testing

@testable import Telemetry

@Suite struct ScanCursorNumberTests {
    private let tables = ScannerTables()

    /// Nil where the number is left to the general way. With much text behind it and with little, it is read in other ways.
    private func scanned(_ text: String) -> Double? {
        let few = scanned(text, before: ",      }")
        #expect(
            scanned(text, before: ",\(String(repeating: " ", count: 40))}")?.bitPattern == few?.bitPattern, "\(text)")
        return few
    }

    private func scanned(_ text: String, before rest: String) -> Double? {
        Array("\(text)\(rest)".utf8).withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            var cursor = ScanCursor(position: base, end: base + bytes.count)
            guard cursor.trimToClosingBrace() else { return nil }
            let number = cursor.takeNumber(tables.powers)?.double(tables.powers)
            // What was taken ends where the number does.
            guard let number, cursor.byte == UInt8(ascii: ",") else { return nil }
            return number
        }
    }

    @Test(arguments: [
        "0", "-0", "1", "48.137154", "-73.98712999999998", "0.1", "0.3", "9007199254740991", "9007199254740993",
        "9007199254740995",
        // halfway between two doubles: to the even one
        "4503599627370496.25", "4503599627370496.75", "4503599627370497.25", "2251799813685248.125",
        "2251799813685248.375",
        "9999999999999999999", "0.000000000000000001", "1.000000000000000001", "9.999999999999999999",
        "999999999.9999999999",
        "1152921504606846977", "0.123456789012345678", "1773000600.123456789",
    ])
    func whatIsTakenIsTheNearestDouble(text: String) throws {
        let expected = try #require(Double(text))
        #expect(scanned(text)?.bitPattern == expected.bitPattern)
    }

    @Test func drawnNumbersAreTheNearestDoubles() {
        var random = SeededRandom(seed: 53)
        for _ in 0..<20_000 {
            let digits = Int.random(in: 1...19, using: &random)
            let point = Int.random(in: 0..<digits, using: &random)
            var text = ""
            for index in 0..<digits {
                if index == digits - point && index > 0 { text += "." }
                text += String(Int.random(in: index == 0 && digits - point > 1 ? 1...9 : 0...9, using: &random))
            }
            if scanned(text) != Double(text) {
                Issue.record("\(text) was read as \(String(describing: scanned(text)))")
            }
        }
    }

    @Test(arguments: [
        "", "-", "01", "-01", "00", ".5", "1.", "-.5", "1e5", "1.5E1", "12345678901234567890", "0.12345678901234567890",
        "+1", "x",
    ])
    func whatIsUnusualIsLeftAlone(text: String) {
        #expect(scanned(text) == nil)
    }
}
