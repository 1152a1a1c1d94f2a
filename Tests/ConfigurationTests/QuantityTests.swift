import Testing

@testable import Configuration

@Suite struct QuantityTests {
    @Test(arguments: [
        ("0", 0), ("0s", 0), ("250ms", 250), ("15s", 15_000), ("1.5s", 1_500), ("2m", 120_000), ("1h30m", 5_400_000),
        ("8h", 28_800_000), ("36500d", 3_153_600_000_000), ("15 s", 15_000),
    ])
    func durationsAreWholeMilliseconds(_ text: String, _ milliseconds: Int64) throws {
        #expect(try Quantity.milliseconds(text) == milliseconds)
    }

    @Test(arguments: [
        "", "s", "5", "1.5", "5 seconds", "5S", "1..5s", "0.1ms", "-1s", "1e3s", "١s", "5m s", "99999999999999999999h",
    ])
    func whatIsNoDurationIsRefused(_ text: String) {
        #expect(throws: Refusal.self) { try Quantity.milliseconds(text) }
    }

    @Test(arguments: [("0", 0), ("4096", 4096), ("64KiB", 65_536), ("1 MiB", 1_048_576), ("2GiB", 2_147_483_648)])
    func sizesAreBytes(_ text: String, _ bytes: Int64) throws {
        #expect(try Quantity.bytes(text) == bytes)
    }

    @Test(arguments: ["", "KiB", "64kb", "64KB", "-1", "1.5MiB", "9223372036854775807KiB"])
    func whatIsNoSizeIsRefused(_ text: String) {
        #expect(throws: Refusal.self) { try Quantity.bytes(text) }
    }

    @Test(arguments: ["nan", "inf", "-inf", "0x10", "1e999", "", "1_000", "e5", "1,5", "٣"])
    func whatIsNoFiniteNumberIsRefused(_ text: String) {
        #expect(Quantity.number(text) == nil)
    }

    @Test func numbersAreReadInEveryDecimalForm() {
        #expect(
            ["75", "0.05", "1e6", "-3.5", "+2", ".5"].map { Quantity.number($0) } == [75, 0.05, 1e6, -3.5, 2, 0.5])
    }

    @Test(arguments: [Int64(0), 1, 999, 1_000, 90_000, 120_000, 3_600_000, 86_400_000, 28_800_000, 3_153_600_000_001])
    func writtenDurationsReadBack(_ milliseconds: Int64) throws {
        #expect(try Quantity.milliseconds(Quantity.text(milliseconds: milliseconds)) == milliseconds)
    }

    @Test(arguments: [Int64(0), 1, 1023, 1024, 4096, 1 << 20, 3 << 30])
    func writtenSizesReadBack(_ bytes: Int64) throws {
        #expect(try Quantity.bytes(Quantity.text(bytes: bytes)) == bytes)
    }
}
