import Testing

@testable import Telemetry

@Suite struct EventTimestampTests {
    private func milliseconds(_ timestamp: String) throws -> Int64 {
        try withEvent(#"{"type":"activity.ended","activityId":"a","timestamp":\#(timestamp)}"#) {
            $0.timestampMilliseconds
        }
    }

    private func reason(_ timestamp: String) -> String? {
        TelemetryTests.reason(#"{"type":"activity.ended","activityId":"a","timestamp":\#(timestamp)}"#)
    }

    @Test(arguments: [
        ("1773000600", 1_773_000_600_000), ("1773000600.5", 1_773_000_600_500), ("0", 0),
        ("1.7730006e9", 1_773_000_600_000),
        // floor(t × 1000 + 0.5): halves go up, also below zero
        ("0.0005", 1), ("0.00049", 0), ("-0.0005", 0), ("-0.0006", -1), ("-1.5", -1500),
        ("1773000600.9996", 1_773_000_601_000),
        ("100000000000", 100_000_000_000_000), ("-0", 0),
    ])
    func numbersAreSeconds(text: String, expected: Int64) throws {
        #expect(try milliseconds(text) == expected)
    }

    @Test(arguments: ["1773000600500", "100000000000.1", "1e300", "-1e300", "1e19", "-9223372036854775809"])
    func millisecondsAndNonsenseAreRefused(text: String) {
        #expect(reason(text) == "bad_timestamp")
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2026-03-08T20:10:00Z", 1_773_000_600_000),
        ("2026-03-08t20:10:00.5z", 1_773_000_600_500),
        ("2026-03-08T21:40:00+01:30", 1_773_000_600_000), ("2026-03-08T15:10:00-05:00", 1_773_000_600_000),
        ("2026-03-08T20:10:00-00:00", 1_773_000_600_000), ("2026-03-08T20:10:00.0004Z", 1_773_000_600_000),
        ("2026-03-08T20:10:00.00049999999999999999999Z", 1_773_000_600_000),
        ("2026-03-08T20:10:00.0005Z", 1_773_000_600_001), ("2026-03-08T20:10:00.9995Z", 1_773_000_601_000),
        ("2026-03-08T20:10:00.123456789012345678901234567890Z", 1_773_000_600_123),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000), ("2000-02-29T12:00:00Z", 951_825_600_000),
        ("1969-12-31T23:59:59.999Z", -1), ("1969-12-31T23:59:59.9994Z", -1),
        ("0000-01-01T00:00:00Z", -62_167_219_200_000),
        ("9999-12-31T23:59:59Z", 253_402_300_799_000),
        // leap seconds, in any zone, count as the second behind them
        ("2016-12-31T23:59:60Z", 1_483_228_800_000), ("2017-01-01T00:59:60+01:00", 1_483_228_800_000),
        ("1990-12-31T15:59:60-08:00", 662_688_000_000),
    ])
    func stringsAreRFC3339(text: String, expected: Int64) throws {
        #expect(try milliseconds("\"\(text)\"") == expected)
    }

    @Test(arguments: [
        "", " ", "now", "1773000600", "2026-03-08", "2026-03-08T20:10:00", "2026-03-08 20:10:00Z", "2026-03-08T20:10Z",
        "2026-03-08T20:10:00.Z", "2026-03-08T20:10:00,5Z", "2026-03-08T24:00:00Z", "2026-03-08T20:60:00Z",
        "2026-03-08T20:10:60Z", "2026-03-08T20:10:61Z", "2026-03-30T23:59:60Z", "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z", "2026-00-10T00:00:00Z", "2026-13-10T00:00:00Z", "2026-01-00T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "26-03-08T20:10:00Z", "2026-3-8T20:10:00Z", "+2026-03-08T20:10:00Z", "2026-03-08T20:10:00+0100",
        "2026-03-08T20:10:00+01", "2026-03-08T20:10:00+24:00", "2026-03-08T20:10:00+01:60", "2026-03-08T20:10:00ZZ",
        "2026-03-08T20:10:00Z ", " 2026-03-08T20:10:00Z", "2026-03-08T20:10:00 Z", "２０２６-03-08T20:10:00Z",
        "20260308T201000Z",
    ])
    func whatIsNoRFC3339IsRefused(text: String) {
        #expect(reason("\"\(text)\"") == "bad_timestamp")
    }

    @Test(arguments: ["true", "{}", "[1773000600]"])
    func aTimeOfAnotherTypeIsOne(text: String) {
        #expect(reason(text) == "wrong_type:timestamp")
    }

    @Test func everyDayFromYear1To9999HasItsPlace() {
        // Counted day by day beside the closed formula.
        var expected: Int64 = -62_135_596_800_000
        for year in 1...9999 {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            for (month, length) in lengths.enumerated() {
                let text = "\(padded(year, 4))-\(padded(month + 1, 2))-01T00:00:00Z"
                let found = Array(text.utf8).withUnsafeBytes { Timestamp.milliseconds(rfc3339: $0) }
                if found != expected { Issue.record("\(text): \(String(describing: found)), not \(expected)") }
                expected += Int64(length) * 86_400_000
            }
        }
    }

    private func padded(_ number: Int, _ places: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: places - digits.count) + digits
    }
}
