import Storage

/// Says when a registry of tokens has failed for so long that this process should be given no work: what is asked of it is asked again, and a
/// moment without it costs nobody anything.
struct RegistryWatch {
    private var sinceMilliseconds: Int64?

    static let patienceMilliseconds: Int64 = 10_000

    /// - Parameter fault: what is wrong at present. One key of another type is one activity's or user's trouble, and no reason.
    /// - Returns: why, or nil.
    mutating func hindrance(_ fault: StoreFault?, nowMilliseconds now: Int64) -> String? {
        guard let fault, fault.failure != .misconfigured else {
            sinceMilliseconds = nil
            return nil
        }
        let since = sinceMilliseconds ?? now
        sinceMilliseconds = since
        return now - since >= Self.patienceMilliseconds ? fault.description : nil
    }
}
