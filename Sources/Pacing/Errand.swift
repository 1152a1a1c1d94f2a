import Telemetry

/// What a shard has to ask of the registry of tokens, which all members share. Its owner asks, and hands the answer in.
public struct Errand: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// The activity has begun; `key` is that of its records.
        case begin(key: [UInt8])
        /// It is over; so long something of it may still be asked for.
        case end(keptMilliseconds: Int64)
        /// Through which token the user's phone can be asked to start it.
        case startToken(user: String, app: String)
        /// A start is about to leave, if its phone allows one more.
        case takeStart(PushToken, app: String, start: UInt32)
        /// The provider says that the user's token is gone.
        case forgetStartToken(user: String, app: String, PushToken, goneAtMilliseconds: Int64)
    }

    public let activity: [UInt8]
    public let life: UInt32
    public let kind: Kind
}

extension Shard {
    public var hasErrands: Bool { !errands.isEmpty }

    /// What is to be asked of the registry since the last call, in order.
    public func takeErrands() -> [Errand] {
        defer { errands.removeAll(keepingCapacity: true) }
        return errands
    }

    func ask(_ index: UInt32, _ kind: Errand.Kind) {
        guard settings.asksRegistry else { return }
        errands.append(
            Errand(activity: withIdentifier(ofIndex: index) { Array($0) }, life: record(index).life, kind: kind))
    }

    /// The registry has to know where the events of the activity go.
    func askToBegin(_ index: UInt32) {
        guard settings.asksRegistry else { return }
        let key =
            record(index).subject.map { subjects.name(ofPlace: $0) } ?? withIdentifier(ofIndex: index) { Array($0) }
        ask(index, .begin(key: key))
    }

    /// Whether the answer would still be of use.
    public func wants(_ errand: Errand) -> Bool {
        switch errand.kind {
        case .forgetStartToken: return true
        // Told late it would end a life that has begun meanwhile.
        case .end:
            guard let index = errand.activity.withUnsafeBytes({ find($0) }) else { return true }
            return state(index).pointee.flags.contains(.ended)
        // Told after its end it would be kept for ever.
        case .begin: return index(of: errand) != nil
        case .startToken(let user, _):
            guard let index = self.index(of: errand) else { return false }
            return record(index).awaitsStartToken && record(index).user?.hasSameBytes(as: user) == true
        case .takeStart(let token, _, let start):
            guard let index = self.index(of: errand) else { return false }
            let record = record(index)
            return record.isStarting && record.target == .startToken(token) && record.clearance == .asked
                && record.startNumber == start
        }
    }

    func index(of errand: Errand) -> UInt32? {
        guard let index = errand.activity.withUnsafeBytes({ find($0) }), record(index).life == errand.life,
            !state(index).pointee.flags.contains(.ended)
        else { return nil }
        return index
    }

    func appName(_ index: UInt32) -> String {
        settings.apps.isEmpty ? "" : settings.apps[Int(state(index).pointee.pool)]
    }
}
