import CLinux
import Glibc

/// Says to whoever comes next which record was in work when the process ended: two numbers in a file that is mapped into memory, so that
/// noting one costs two stores and outlives any crash of the process, though not one of the machine.
///
/// Belongs to the run's thread. The file is locked as long as it lives; members that share a folder take one each.
public final class WorkMark {
    /// The record in work, or none.
    public struct Note: Equatable, Sendable {
        public let partition: Int32
        public let source: Int
        public let offset: Int64
    }

    private static let pageBytes = 4_096
    private static let magic: Int64 = 0x5759_504D_4152_4B31
    /// A source's place is below it.
    private static let sourcesAPartition: Int64 = 64
    private static let mostFiles = 64

    /// Magic, place, offset. The place is 0 where nothing is in work.
    private let words: UnsafeMutablePointer<Int64>
    private let descriptor: Int32
    public let path: String
    /// Of the process that had the file before; nil where it ended with nothing in work.
    public let left: Note?

    /// - Throws: where no file can be had.
    public init(directory: String, group: String) throws(SourceFault) {
        let (descriptor, path) = try Self.lock(directory, group)
        guard ftruncate(descriptor, off_t(Self.pageBytes)) == 0,
            let page = mmap(nil, Self.pageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), page != MAP_FAILED
        else {
            let why = String(cString: strerror(errno))
            close(descriptor)
            throw Self.fault(path, why)
        }
        (self.descriptor, self.path) = (descriptor, path)
        words = page.bindMemory(to: Int64.self, capacity: Self.pageBytes / 8)
        let isOurs = words[0] == Self.magic
        left =
            isOurs && words[1] > 0
            ? Note(
                partition: Int32(truncatingIfNeeded: (words[1] - 1) / Self.sourcesAPartition),
                source: Int((words[1] - 1) % Self.sourcesAPartition), offset: words[2])
            : nil
        if !isOurs { (words[0], words[1], words[2]) = (Self.magic, 0, 0) }
    }

    deinit {
        munmap(words, Self.pageBytes)
        close(descriptor)
    }

    public func note(partition: Int32, source: Int, offset: Int64) {
        clinux_store_for_others(words + 2, offset)
        clinux_store_for_others(words + 1, Int64(partition) * Self.sourcesAPartition + Int64(source) + 1)
    }

    public func clear() { clinux_store_for_others(words + 1, 0) }

    private static func lock(_ directory: String, _ group: String) throws(SourceFault) -> (Int32, String) {
        // A name may hold slashes.
        let name = group.utf8.map { $0 == UInt8(ascii: "/") ? "_" : String(UnicodeScalar($0)) }.joined()
        var path = ""
        for number in 0..<mostFiles {
            path = "\(directory)/\(name).\(number).work"
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else { throw fault(path, String(cString: strerror(errno))) }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return (descriptor, path) }
            close(descriptor)
        }
        throw fault(path, "all \(mostFiles) of its kind are in use")
    }

    private static func fault(_ path: String, _ why: String) -> SourceFault {
        SourceFault(
            source: path, problem: "cannot be used to note the record in work (\(why))",
            remedy: "set deadLetters.stateDirectory to a folder that may be written to")
    }
}
