/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers from the same seed, on every machine.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// 0 ≤ x < 1.
    public mutating func unit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    public mutating func chance(_ probability: Double) -> Bool {
        unit() < probability
    }

    public mutating func double(in range: ClosedRange<Double>) -> Double {
        range.lowerBound + unit() * (range.upperBound - range.lowerBound)
    }

    public mutating func integer(in range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    /// Close to normal, mean 0, deviation 1 (Irwin–Hall with twelve): additions alone, so no libm can change a bit of it.
    public mutating func normal() -> Double {
        var sum = -6.0
        for _ in 0..<12 { sum += unit() }
        return sum
    }

    /// A stream of its own for one part of a whole, so that parts do not disturb each other.
    public func branch(_ index: Int) -> SeededRandom {
        var copy = SeededRandom(seed: state ^ (UInt64(bitPattern: Int64(index)) &* 0xD1B5_4A32_D192_ED03))
        _ = copy.next()
        return copy
    }

    mutating func hex(digits: Int) -> String {
        var text = ""
        while text.utf8.count < digits {
            let part = String(next(), radix: 16)
            text += String(repeating: "0", count: 16 - part.count) + part
        }
        return String(text.prefix(digits))
    }

    /// A UUID of version 4, lower case.
    mutating func identifier() -> String {
        let digits = Array(hex(digits: 32))
        let text = String(digits)
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { range in
            String(text.dropFirst(range.lowerBound).prefix(range.count))
        }
        return "\(parts[0])-\(parts[1])-4\(parts[2].dropFirst())-a\(parts[3].dropFirst())-\(parts[4])"
    }
}
