import Testing

@testable import Telemetry

@Suite struct DecimalTextTests {
    @Test(arguments: [
        (0, "0"), (-0.0, "0"), (1, "1"), (-1, "-1"), (48, "48"), (48.1, "48.1"), (0.1, "0.1"),
        (0.30000000000000004, "0.30000000000000004"), (100, "100"),
        (1e5, "100000"), (123_456_789, "123456789"), (1e16, "10000000000000000"), (1e20, "100000000000000000000"),
        (1e21, "1e+21"), (1.5e21, "1.5e+21"),
        (1e-5, "0.00001"), (1.5e-5, "0.000015"), (1e-6, "0.000001"), (1e-7, "1e-7"), (1.25e-7, "1.25e-7"),
        (.leastNonzeroMagnitude, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"), (9_007_199_254_740_992, "9007199254740992"),
        (1773000600.5, "1773000600.5"), (-73.98712999999998, "-73.98712999999998"),
    ])
    func doublesAreWrittenInTheirShortestForm(double: Double, text: String) {
        #expect(DecimalText.shortest(double) == text)
        #expect(written(double) == text)
    }

    @Test func shortDecimalsAreWrittenInTheirShortestFormToo() throws {
        var random = SeededRandom(seed: 15)
        for _ in 0..<20_000 {
            // Up to eight decimals, of which six are written without the shortest text being looked for, and their neighbours.
            let whole =
                Int64.random(in: -999_999_999...999_999_999, using: &random) >> Int64.random(in: 0...29, using: &random)
            let places = Int.random(in: 0...8, using: &random)
            let fraction = String(Int.random(in: 0...99_999_999, using: &random)).prefix(places)
            var double = try #require(Double("\(whole)\(fraction.isEmpty ? "" : ".")\(fraction)"))
            if Int.random(in: 0..<4, using: &random) == 0 { double = double.nextUp }
            if written(double) != DecimalText.shortest(double) {
                Issue.record("\(double) was written as \(written(double))")
            }
        }
    }

    @Test func quickRoundingIsTheExactOne() {
        var random = SeededRandom(seed: 5)
        for _ in 0..<50_000 {
            let degrees = Double.random(in: -180...180, using: &random)
            // Most of them beside the middle between two.
            let middle = (degrees * 1e5).rounded(.down) / 1e5 + 5e-6
            for value in [degrees, middle, middle.nextUp, middle.nextDown, middle + 1e-11, middle - 1e-11] {
                let exact = DecimalText.exactHundredThousandths(value)
                if DecimalText.hundredThousandths(value) != exact { Issue.record("\(value) is not \(exact)") }
            }
        }
    }

    private func written(_ double: Double) -> String {
        var buffer = ByteBuffer()
        buffer.append(double: double)
        return buffer.text
    }

    @Test func whatIsWrittenReadsBackAsTheSameDouble() throws {
        var random = SeededRandom(seed: 0x5EED)
        for _ in 0..<20_000 {
            let double = Double(bitPattern: random.next())
            guard double.isFinite else { continue }
            let text = DecimalText.shortest(double)
            guard case .number(let number) = try json(text) else { return }
            if number.double != double { Issue.record("\(double) was written as \(text)") }
            if text.utf8.count > double.description.utf8.count + 5 && double.magnitude > 1e-6 && double.magnitude < 1e16
            {
                Issue.record("\(text) is longer than \(double)")
            }
        }
    }

    /// Expected by Python's `Decimal(x).quantize(Decimal("0.00001"), ROUND_HALF_EVEN)`, which is exact.
    @Test(arguments: [
        (48.137154321, "48.13715"),
        (11.576124, "11.57612"),
        (0.0, "0"),
        (-0.0, "0"),
        (90.0, "90"),
        (-180.0, "-180"),
        (5e-06, "0.00001"),
        (1.5e-05, "0.00002"),
        (2.5e-05, "0.00003"),
        (-5e-06, "-0.00001"),
        (4.9999e-06, "0"),
        (1.000005, "1.00001"),
        (1.000015, "1.00002"),
        (2.5e-05, "0.00003"),
        (.leastNonzeroMagnitude, "0"),
        (-1e-07, "0"),
        (179.999995, "180"),
        (179.999994999, "179.99999"),
        (0.03125, "0.03125"),
        (0.015625, "0.01562"),
        (0.0078125, "0.00781"),
        (0.001953125, "0.00195"),
        (0.015625, "0.01562"),
        (0.046875, "0.04688"),
        (0.015625, "0.01562"),
        (48.000005, "48.00001"),
        (48.000015, "48.00001"),
        (-73.987125, "-73.98713"),
        (-73.9871250000001, "-73.98713"),
        (89.999995, "89.99999"),
        (0.30000000000000004, "0.3"),
        (2.675e-06, "0"),
        (0.015625, "0.01562"),
        (0.046875, "0.04688"),
        (0.078125, "0.07812"),
        (0.109375, "0.10938"),
        (0.140625, "0.14062"),
        (0.171875, "0.17188"),
        (1.578125, "1.57812"),
        (89.984375, "89.98438"),
        (179.984375, "179.98438"),
        (-63.42020466006154, "-63.4202"),
        (-125.6942973871793, "-125.6943"),
        (54.33641029434736, "54.33641"),
        (-153.9229367996846, "-153.92294"),
        (12.917521550408111, "12.91752"),
        (-48.35198991146922, "-48.35199"),
        (-159.12038708110555, "-159.12039"),
        (2.676863948191283, "2.67686"),
        (-166.50156296088545, "-166.50156"),
        (-23.887553881541095, "-23.88755"),
        (-154.8520475131372, "-154.85205"),
        (-147.34331519620858, "-147.34332"),
        (104.890005, "104.89001"),
        (104.89000500000002, "104.89001"),
        (104.89000499999999, "104.89"),
        (-140.331615, "-140.33161"),
        (-140.33161499999997, "-140.33161"),
        (-140.33161500000003, "-140.33162"),
        (-96.917915, "-96.91791"),
        (-96.91791499999998, "-96.91791"),
        (-96.91791500000001, "-96.91792"),
        (-30.186865, "-30.18687"),
        (-30.186864999999997, "-30.18686"),
        (-30.186865000000004, "-30.18687"),
        (-138.485085, "-138.48508"),
        (-138.48508499999997, "-138.48508"),
        (-138.48508500000003, "-138.48509"),
        (86.207765, "86.20776"),
        (86.20776500000001, "86.20777"),
        (86.20776499999998, "86.20776"),
    ])
    func fiveDecimalsAreNearestToTheDoubleItself(degrees: Double, text: String) {
        var buffer = ByteBuffer()
        buffer.append(fiveDecimals: degrees)
        #expect(buffer.text == text)
        let number = JSONNumber(fiveDecimals: degrees)
        #expect(number.text == text && number.double == Double(text))
    }

    @Test func hugeNumbersAreNotForcedIntoFiveDecimals() {
        #expect(DecimalText.hundredThousandths(0x1p44) == nil)
        #expect(DecimalText.hundredThousandths(.nan) == nil)
        #expect(DecimalText.hundredThousandths(.infinity) == nil)
        #expect(DecimalText.hundredThousandths((0x1p44).nextDown) == 1_759_218_604_441_599_805)
        #expect(JSONNumber(fiveDecimals: 1e300).text == "1e+300")
    }
}
