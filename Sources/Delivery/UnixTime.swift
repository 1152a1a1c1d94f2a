import Glibc

/// The wall clock, read where a provider's rule speaks of Unix time.
enum UnixTime {
    static func seconds() -> Int64 {
        Int64(time(nil))
    }
}
