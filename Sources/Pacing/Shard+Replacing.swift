import Telemetry

/// An activity that takes the place of another one: that ends first.
extension Shard {
    /// So often is looked whether the end of what is replaced may leave by now.
    private static let replacementLookMilliseconds: Int64 = 200

    /// Ends what the activity replaces, or has it loaded for that.
    ///
    /// - Parameter isLoaded: all that is kept of that one is in memory.
    func replace(_ index: UInt32, isLoaded: Bool, _ moment: Instant) {
        let record = record(index)
        guard var replacement = record.replacement else { return }
        #if PLANTED_DEFECTS
            if settings.plantedDefect == .replacedGoesOn {
                record.replacement = nil
                return
            }
        #endif
        guard let former = replacement.identifier.withUnsafeBytes({ find($0) }) else {
            if settings.keepsCheckpoints, !isLoaded {
                replacing.insert(index)
                wantedLoads.insert(replacement.identifier)
            } else {
                replacing.remove(index)
                record.replacement = nil
            }
            return
        }
        replacing.remove(index)
        guard former != index else {
            record.replacement = nil
            return
        }
        leaving.remove(former)
        let life = self.record(former).life
        guard replacement.life ?? life == life else { return }
        if !state(former).pointee.flags.contains(.ended) { end(former, joining: nil, dismissal: nil, moment) }
        replacement.life = life
        record.replacement = replacement
    }

    /// A start leaves no sooner than the end of what it replaces could.
    func replacementOpening(_ record: ActivityRecord, _ moment: Instant) -> Opening {
        guard let replacement = record.replacement else { return .open }
        // Nobody knows yet whether it lives.
        guard let life = replacement.life else { return .shut }
        guard let former = replacement.identifier.withUnsafeBytes({ find($0) }) else { return .open }
        let other = self.record(former)
        let flags = state(former).pointee.flags
        guard other.life == life, other.isEnding, flags.contains(.waiting), !flags.contains(.ready), other.target != nil
        else { return .open }
        // It waits for an answer: that comes within the deadline of a request, so a look now and then costs little.
        return .at(milliseconds: moment.nowMilliseconds + Shard.replacementLookMilliseconds)
    }

    /// Activities that have to be in memory, if anything is kept of them, since the last call.
    public func takeWantedLoads() -> [[UInt8]] {
        defer { wantedLoads.removeAll() }
        return wantedLoads.sorted { $0.lexicographicallyPrecedes($1) }
    }

    public var hasWantedLoads: Bool { !wantedLoads.isEmpty }
    /// Whether an activity waits to hear what is kept of another one.
    public var awaitsLoads: Bool { !replacing.isEmpty }

    /// It could not be loaded, and is to be asked for again.
    public func wantAgain(_ identifier: [UInt8]) { wantedLoads.insert(identifier) }

    /// All that is kept of these has been restored.
    public func noteLoaded(activities identifiers: [[UInt8]], at instant: Instant) {
        guard !replacing.isEmpty else { return }
        let moment = moment(instant)
        for index in replacing.sorted() {
            guard let wanted = record(index).replacement?.identifier, identifiers.contains(wanted) else { continue }
            replace(index, isLoaded: true, moment)
            markUnsaved(index)
            advanceGates(index, moment)
        }
    }
}
