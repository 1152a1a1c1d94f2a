/// What happened in a world: a hash of all of it always, lines for people only where somebody will read them.
struct Trace {
    private struct Line {
        let activity: Int?
        let text: String
    }

    /// FNV-1a over everything noted: equal for two runs of a seed.
    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    private let keepsLines: Bool
    private var lines: [Line] = []

    init(keepsLines: Bool) {
        self.keepsLines = keepsLines
    }

    /// - Parameters:
    ///   - activity: whose history it belongs to; nil: everybody's.
    ///   - values: all that makes this moment different from others.
    mutating func note(
        _ milliseconds: Int64, _ activity: Int?, _ values: [Int64], _ text: @autoclosure () -> String
    ) {
        mix(milliseconds)
        mix(Int64(activity ?? -1))
        for value in values { mix(value) }
        guard keepsLines else { return }
        let seconds = milliseconds / 1_000
        let rest = String(milliseconds % 1_000 + 1_000).dropFirst()
        lines.append(Line(activity: activity, text: "\(seconds).\(rest) s  \(text())"))
    }

    private mutating func mix(_ value: Int64) {
        hash = (hash ^ UInt64(bitPattern: value)) &* 0x100_0000_01B3
    }

    /// The lines that concern an activity; all of them for nil.
    func lines(of activity: Int?) -> [String] {
        lines.filter { activity == nil || $0.activity == nil || $0.activity == activity }.map(\.text)
    }
}
