import Flow
import Pacing
import Storage
import Synchronization

private let serials = Mutex(0 as UInt64)

private func nextSerial() -> UInt64 {
    serials.withLock {
        $0 += 1
        return $0
    }
}

/// An activity's checkpoint in a batch, in words.
struct Kept {
    var id: [UInt8]
    var checkpoint: [UInt8]
    var due: Int64?
    var timeToLive: Int64?
    var subject: [UInt8] = []
    var formerSubject: [UInt8] = []

    init(
        _ id: String, _ checkpoint: String, due: Int64? = nil, timeToLive: Int64? = nil, subject: String = "",
        formerSubject: String = ""
    ) {
        self.id = Array(id.utf8)
        self.checkpoint = Array(checkpoint.utf8)
        self.due = due
        self.timeToLive = timeToLive
        self.subject = Array(subject.utf8)
        self.formerSubject = Array(formerSubject.utf8)
    }
}

extension CheckpointBatch {
    /// - Parameter serial: by default higher than that of any batch before.
    convenience init(
        _ kept: [Kept], positions: [SettledPosition?] = [], serial: UInt64? = nil, acknowledged: UInt64 = 0
    ) {
        var bytes: [UInt8] = []
        func place(_ added: [UInt8]) -> Range<Int> {
            defer { bytes += added }
            return bytes.count..<bytes.count + added.count
        }
        var entries: [Entry] = []
        for kept in kept {
            entries.append(
                Entry(
                    identifier: place(kept.id), checkpoint: place(kept.checkpoint), dueMilliseconds: kept.due,
                    timeToLiveMilliseconds: kept.timeToLive, subject: place(kept.subject),
                    formerSubject: place(kept.formerSubject)))
        }
        self.init(
            bytes: bytes, entries: entries, positions: positions, serial: serial ?? nextSerial(),
            acknowledged: acknowledged)
    }
}

extension LoadKey {
    static func activity(_ id: String) -> LoadKey { LoadKey(identifier: Array(id.utf8)) }
    static func subject(_ id: String) -> LoadKey { LoadKey(identifier: Array(id.utf8), isSubject: true) }
}

extension StoreAnswer {
    var claim: Claim? { if case .claimed(let claim) = self { claim } else { nil } }
    var isLost: Bool { if case .lost = self { true } else { false } }
    var isSaved: Bool { if case .saved = self { true } else { false } }
    var isBehind: Bool { if case .behind = self { true } else { false } }
    var isForgotten: Bool { if case .forgotten = self { true } else { false } }
    var isRenewed: Bool { if case .renewed = self { true } else { false } }
    var isReleased: Bool { if case .released = self { true } else { false } }
    var failure: StoreFailure? { if case .failed(let failure) = self { failure } else { nil } }
    var members: [String]? { if case .alive(let members, _) = self { members } else { nil } }
    /// Id → checkpoint.
    var loaded: [String: String]? {
        guard case .loaded(let found) = self else { return nil }
        return Dictionary(found.map { (text($0.identifier), text($0.bytes)) }) { first, _ in first + " twice" }
    }
    /// In the order in which they came.
    var due: [String]? {
        guard case .loaded(let found) = self else { return nil }
        return found.map { "\(text($0.identifier)) at \($0.dueMilliseconds.map(String.init) ?? "no time")" }
    }
}

extension StoreCheck {
    var fault: StoreFault? { if case .refused(let fault) = self { fault } else { nil } }
    var warnings: [String]? { if case .passed(let warnings) = self { warnings } else { nil } }
}

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
