import CLinux

/// Fetched records come and go by megabytes, each batch in memory of its own. The C library would give that back to the system and ask for
/// it again, and the system clears each page: a tenth of what an event costs.
enum FetchMemory {
    /// glibc's own limit (mallopt(3), M_MMAP_THRESHOLD): what is larger is mapped by itself all the same.
    private static let largestKeptBytes: Int32 = 32 << 20

    /// Of the whole process, and for good.
    ///
    /// - Parameter budgetMiB: so much is kept at most beyond what is in use.
    static func keep(budgetMiB: Int) {
        _ = mallopt(M_MMAP_THRESHOLD, largestKeptBytes)
        _ = mallopt(M_TRIM_THRESHOLD, Int32(clamping: budgetMiB << 20))
    }
}
