/// Numbers with and without units, as text.
public enum Quantity {
    private static let durationUnits: [(String, Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]
    private static let sizeUnits: [(String, Int64)] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)]

    /// `250ms`, `15s`, `1.5h`, `1h30m`, `0`, in whole milliseconds.
    public static func milliseconds(_ text: String) throws(Refusal) -> Int64 {
        if text == "0" { return 0 }
        guard number(text) == nil else {
            throw Refusal(problem: "\"\(text)\" has no unit", remedy: "write \(text)s, or use ms, m, h or d")
        }
        var total: Int64 = 0
        var rest = Substring(text)
        repeat {
            let digits = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
            let unit = rest.dropFirst(digits.count).prefix { !($0.isASCII && $0.isNumber) }
            rest = rest.dropFirst(digits.count + unit.count)
            guard let amount = number(String(digits)) else {
                throw Refusal(
                    problem: "\"\(text)\" is not a duration", remedy: "write for instance 15s, 250ms, 2m or 1h")
            }
            guard let factor = durationUnits.first(where: { $0.0 == trimmed(unit) })?.1 else {
                throw Refusal(
                    problem: "\"\(text)\" has the unknown unit \"\(trimmed(unit))\"", remedy: "use ms, s, m, h or d")
            }
            let product = amount * Double(factor)
            guard product.rounded() == product else {
                throw Refusal(problem: "\"\(text)\" is finer than a millisecond", remedy: "use whole milliseconds")
            }
            guard product < 9e15, case (let sum, let overflow) = total.addingReportingOverflow(Int64(product)),
                !overflow
            else {
                throw Refusal(problem: "\"\(text)\" is too long", remedy: "use less than 300 years")
            }
            total = sum
        } while !rest.isEmpty
        return total
    }

    /// `4096` or `64KiB`, in bytes.
    static func bytes(_ text: String) throws(Refusal) -> Int64 {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = trimmed(text.dropFirst(digits.count))
        guard let amount = Int64(digits) else {
            throw Refusal(problem: "\"\(text)\" is not a size", remedy: "write bytes, or for instance 64KiB or 1MiB")
        }
        let factor = unit.isEmpty ? 1 : sizeUnits.first { $0.0 == unit }?.1
        guard let factor else {
            throw Refusal(
                problem: "\"\(text)\" has the unknown unit \"\(unit)\"",
                remedy: "use KiB, MiB, GiB, or bytes without a unit")
        }
        let (product, overflow) = amount.multipliedReportingOverflow(by: factor)
        guard !overflow else { throw Refusal(problem: "\"\(text)\" is too large", remedy: "use less than 8 EiB") }
        return product
    }

    /// A finite decimal number. Swift's own reader would also take `nan`, `inf` and `0x1p3`.
    static func number(_ text: String) -> Double? {
        guard let first = text.utf8.first, first != UInt8(ascii: "e"), first != UInt8(ascii: "E"),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }),
            let value = Double(text), value.isFinite
        else { return nil }
        return value
    }

    /// The shortest text that reads back as the same duration: `15s`, `90s`, `2m`.
    static func text(milliseconds: Int64) -> String {
        if milliseconds == 0 { return "0s" }
        // Days are left out: nobody writes 1d for 24h here, and 8h beats 480m.
        let unit = durationUnits.dropLast().last { milliseconds % $0.1 == 0 } ?? durationUnits[0]
        return "\(milliseconds / unit.1)\(unit.0)"
    }

    static func text(bytes: Int64) -> String {
        let unit = sizeUnits.last { bytes != 0 && bytes % $0.1 == 0 }
        return unit.map { "\(bytes / $0.1)\($0.0)" } ?? String(bytes)
    }

    /// Whole numbers without a fraction, others in their shortest form.
    static func text(number: Double) -> String {
        if abs(number) < 1e15, let whole = Int64(exactly: number) { return String(whole) }
        return "\(number)"
    }
}
