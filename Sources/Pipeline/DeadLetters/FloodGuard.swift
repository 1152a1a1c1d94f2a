/// Trips when so many of the records read lately could not be used that something is wrong with all of them, not with one: a producer that
/// speaks another format, a schema that was changed. Good events then wait with the bad ones, in their source, until a person has looked.
///
/// Once tripped it stays so.
public struct FloodGuard: Sendable {
    public struct Settings: Sendable {
        /// 1 never trips.
        public var maxRatio = 0.5
        /// Fewer in a window never trip it, whatever their share.
        public var minCount = 1_000
        public var windowMilliseconds: Int64 = 60_000

        public init() {}
    }

    private struct Slot {
        var number = Int64.min
        var records = 0
        var letters = 0
    }

    /// The window moves by a twelfth of itself.
    private static let slotCount: Int64 = 12

    private let settings: Settings
    private let slotMilliseconds: Int64
    private var slots = Array(repeating: Slot(), count: Int(slotCount))
    /// What the window held when it tripped.
    public private(set) var tripped: (records: Int, letters: Int)?

    public init(_ settings: Settings) {
        self.settings = settings
        slotMilliseconds = max(1, settings.windowMilliseconds / Self.slotCount)
    }

    /// - Parameter now: on a clock that never goes back.
    public mutating func note(records: Int, letters: Int, nowMilliseconds now: Int64) {
        let number = now / slotMilliseconds
        let place = Int(number % Self.slotCount)
        if slots[place].number != number { slots[place] = Slot(number: number) }
        slots[place].records += records
        slots[place].letters += letters
        if letters > 0, tripped == nil { judge(number) }
    }

    private mutating func judge(_ number: Int64) {
        var (records, letters) = (0, 0)
        for slot in slots where slot.number > number - Self.slotCount {
            records += slot.records
            letters += slot.letters
        }
        guard letters >= settings.minCount, Double(letters) > settings.maxRatio * Double(records) else { return }
        tripped = (records, letters)
    }
}
