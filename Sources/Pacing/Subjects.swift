import Telemetry

/// The subjects of a shard: who follows them, and where they were last seen.
struct Subjects: ~Copyable {
    struct Subject {
        fileprivate var name: StoredIdentifier
        /// Activities in the order of their start.
        var followers: [UInt32] = []
        var position: Position?
        var isComplete = false
        var timestampMilliseconds = Int64.min
    }

    /// Nobody follows most of the subjects whose positions pass by; those are forgotten once their position is too old to be of use,
    /// looked for whenever there are twice as many as the last search left.
    private static let leastBeforeSweep = 1024

    private var table: IdentifierTable
    private var subjects: [Subject?] = []
    private var free: [UInt32] = []
    private var sweepAt = leastBeforeSweep

    init(seed: UInt64) {
        table = IdentifierTable(seed: seed)
    }

    deinit {
        for case var subject? in subjects { subject.name.free() }
    }

    var count: Int { table.count }
    var byteCount: Int { table.byteCount + subjects.count * MemoryLayout<Subject?>.stride }

    func followers(of identifier: UnsafeRawBufferPointer) -> [UInt32] {
        guard let index = place(ofKnown: identifier) else { return [] }
        return subjects[Int(index)]?.followers ?? []
    }

    /// Remembers where the subject is, if that is its newest position.
    mutating func see(
        _ identifier: UnsafeRawBufferPointer, _ position: Position, timestampMilliseconds: Int64,
        oldestOfUseMilliseconds: Int64
    ) {
        if table.count >= sweepAt { sweep(oldestOfUseMilliseconds) }
        let index = place(of: identifier)
        guard timestampMilliseconds > subjects[Int(index)]?.timestampMilliseconds ?? .min else { return }
        subjects[Int(index)]?.position = position
        subjects[Int(index)]?.timestampMilliseconds = timestampMilliseconds
    }

    func find(_ identifier: UnsafeRawBufferPointer) -> Subject? {
        place(ofKnown: identifier).flatMap { subjects[Int($0)] }
    }

    func name(ofPlace place: UInt32) -> [UInt8] {
        guard var name = subjects[Int(place)]?.name else { return [] }
        return StoredIdentifier.withBytes(of: &name) { Array($0) }
    }

    /// Whether all activities that follow it are in memory, as far as the store knew of any.
    func isComplete(_ identifier: UnsafeRawBufferPointer) -> Bool {
        place(ofKnown: identifier).flatMap { subjects[Int($0)]?.isComplete } ?? false
    }

    mutating func noteComplete(_ identifier: UnsafeRawBufferPointer) {
        if table.count >= sweepAt { sweep(.min + 1) }
        let index = place(of: identifier)
        subjects[Int(index)]?.isComplete = true
    }

    /// Something that was in memory with it has left.
    mutating func noteIncomplete(_ identifier: UnsafeRawBufferPointer) {
        guard let index = place(ofKnown: identifier) else { return }
        subjects[Int(index)]?.isComplete = false
    }

    /// - Parameter startOrder: of an activity.
    mutating func followAgain(
        _ identifier: UnsafeRawBufferPointer, by activity: UInt32, startOrder: (UInt32) -> Int64
    ) -> UInt32 {
        let index = place(of: identifier)
        let own = startOrder(activity)
        let followers = subjects[Int(index)]?.followers ?? []
        let place = followers.firstIndex { startOrder($0) > own } ?? followers.count
        subjects[Int(index)]?.followers.insert(activity, at: place)
        return index
    }

    /// - Returns: the subject's index, and what is known of it.
    mutating func follow(_ identifier: String, by activity: UInt32) -> (index: UInt32, subject: Subject) {
        var identifier = identifier
        let index = identifier.withUTF8 { place(of: UnsafeRawBufferPointer($0)) }
        let before = subjects[Int(index)] ?? Subject(name: .none)
        subjects[Int(index)]?.followers.append(activity)
        return (index, before)
    }

    mutating func unfollow(_ index: UInt32, by activity: UInt32) {
        subjects[Int(index)]?.followers.removeAll { $0 == activity }
        guard let subject = subjects[Int(index)], subject.followers.isEmpty, subject.position == nil else { return }
        forget(index)
    }

    private func place(ofKnown identifier: UnsafeRawBufferPointer) -> UInt32? {
        subjects.withUnsafeBufferPointer { subjects in
            table.find(table.hash(of: identifier)) { index in
                guard var name = subjects[Int(index)]?.name else { return false }
                return StoredIdentifier.hasBytes(&name, identifier)
            }
        }
    }

    private mutating func place(of identifier: UnsafeRawBufferPointer) -> UInt32 {
        if let index = place(ofKnown: identifier) { return index }
        let index = free.popLast() ?? UInt32(subjects.count)
        if Int(index) == subjects.count { subjects.append(nil) }
        subjects[Int(index)] = Subject(name: StoredIdentifier(identifier))
        table.insert(table.hash(of: identifier), index: index)
        return index
    }

    private mutating func sweep(_ oldestOfUseMilliseconds: Int64) {
        for index in subjects.indices {
            guard let subject = subjects[index], subject.followers.isEmpty,
                subject.timestampMilliseconds < oldestOfUseMilliseconds
            else { continue }
            forget(UInt32(index))
        }
        sweepAt = max(Subjects.leastBeforeSweep, table.count * 2)
    }

    private mutating func forget(_ index: UInt32) {
        if var name = subjects[Int(index)]?.name {
            table.remove(StoredIdentifier.withBytes(of: &name) { table.hash(of: $0) }, index: index)
            name.free()
        }
        subjects[Int(index)] = nil
        free.append(index)
    }
}
