import Telemetry
import Testing

@testable import LiveActivities

@Suite("Dates of content-state and attributes")
struct DateReadingTests {
    private func written(_ text: String, _ format: DateFormat) throws(DateReading.Fault) -> String {
        var buffer = ByteBuffer()
        buffer.append(try DateReading(json(text)).written(as: format))
        return buffer.text
    }

    @Test(
        "one instant, three ways to write it",
        arguments: [
            ("2026-11-29T12:00:00Z", "1795953600", "817646400"),
            ("2001-01-01T00:00:00Z", "978307200", "0"),
            ("2025-01-01T00:00:00Z", "1735689600", "757382400"),
            ("1970-01-01T00:00:00Z", "0", "-978307200"),
            ("2000-02-29T23:59:59Z", "951868799", "-26438401"),
            ("1969-12-31T23:59:59Z", "-1", "-978307201"),
            ("0000-01-01T00:00:00Z", "-62167219200", "-63145526400"),
            ("5000-12-31T23:59:59Z", "95649119999", "94670812799"),
        ])
    func vectors(row: (iso: String, unix: String, apple: String)) throws {
        for given in ["\"\(row.iso)\"", row.unix] {
            #expect(try written(given, .iso8601) == "\"\(row.iso)\"")
            #expect(try written(given, .unix) == row.unix)
            #expect(try written(given, .apple) == row.apple)
        }
    }

    @Test("fractions keep three decimals, and none in text, which Swift's decoder would refuse")
    func fractions() throws {
        #expect(try written("1795953600.5", .unix) == "1795953600.5")
        #expect(try written("1795953600.0", .unix) == "1795953600")
        #expect(try written("1795953600.0625", .apple) == "817646400.063")
        #expect(try written(#""2026-11-29T12:00:00.120Z""#, .unix) == "1795953600.12")
        #expect(try written("978307199.75", .apple) == "-0.25")
        #expect(try written("1795953600.999", .iso8601) == #""2026-11-29T12:00:00Z""#)
        #expect(try written("-0.5", .iso8601) == #""1969-12-31T23:59:59Z""#)
    }

    @Test("milliseconds are refused; the last second before the limit is read")
    func milliseconds() throws {
        #expect(throws: DateReading.Fault.looksLikeMilliseconds) { try written("1795953600000", .apple) }
        #expect(throws: DateReading.Fault.looksLikeMilliseconds) { try written("100000000000", .unix) }
        #expect(throws: DateReading.Fault.looksLikeMilliseconds) { try written("-1e300", .unix) }
        #expect(try written("99999999999", .unix) == "99999999999")
    }

    @Test(
        "what is no date is refused",
        arguments: [#""tomorrow""#, #""2026-11-29""#, #""2026-02-29T00:00:00Z""#, "true", "{}"])
    func noDate(text: String) {
        #expect(throws: DateReading.Fault.noDate) { try written(text, .unix) }
    }

    @Test("years that RFC 3339 cannot write are refused as text alone")
    func beyondCalendar() throws {
        #expect(throws: DateReading.Fault.beyondCalendar) { try written("-99999999999", .iso8601) }
        #expect(try written("-99999999999", .unix) == "-99999999999")
    }

    @Test("every day from 1600 to 2600 reads back as it was written")
    func everyDay() {
        for day in stride(from: -135_140, to: 230_500, by: 1) {
            let milliseconds = Int64(day) * 86_400_000 + 43_200_000
            guard let text = RFC3339.text(unixMilliseconds: milliseconds) else {
                Issue.record("day \(day) cannot be written")
                return
            }
            guard RFC3339.milliseconds(text) == milliseconds else {
                Issue.record("day \(day) is written as \(text)")
                return
            }
        }
    }
}
