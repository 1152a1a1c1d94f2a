import Glibc
import Instruments
import Synchronization

/// The keys in force. Their file is looked at again with every `reload`; one that cannot be used changes nothing, and is spoken of once.
public final class KeyRing: Sendable {
    private struct State {
        var keys: [APIKey]
        var stamp: Stamp?
        /// Nil while the file that was read last is the one in force.
        var fault: KeyFileFault?
        var generation = 0
    }

    /// What changes when a file is written or replaced.
    private struct Stamp: Equatable {
        let device: dev_t
        let inode: ino_t
        let bytes: off_t
        let seconds: Int
        let nanoseconds: Int
    }

    private let path: String
    private let log: Log
    private let state: Mutex<State>

    /// - Throws: where the file cannot be read or used; without a key nobody could come in, and nobody would be told.
    public init(path: String, log: Log) throws(KeyFileFault) {
        self.path = path
        self.log = log
        let stamp = KeyRing.stamp(path)
        state = Mutex(State(keys: try KeyRing.read(path), stamp: stamp))
    }

    public var count: Int { state.withLock { $0.keys.count } }
    /// Whether the file as it is now cannot be used, so that the keys are those of before.
    public var isFileUnusable: Bool { state.withLock { $0.fault != nil } }
    /// Rises with each change of the keys.
    var generation: Int { state.withLock { $0.generation } }

    /// The key that was presented, if it is one. Every key is compared, with the same steps whichever it is, so that time tells nothing.
    func key(_ presented: some Collection<UInt8>) -> APIKey? {
        let digest = KeyDigest(presented)
        return state.withLock { state in
            var found = 0
            for place in state.keys.indices {
                let difference = state.keys[place].digest.difference(digest)
                // 1 where the difference is 0.
                let isSame = Int(truncatingIfNeeded: ((difference | (0 &- difference)) >> 63) ^ 1)
                found |= (place + 1) & (0 &- isSame)
            }
            return found == 0 ? nil : state.keys[found - 1]
        }
    }

    /// Whether a key that came in before still may do what it does.
    func stillOpens(_ key: APIKey, _ scope: Scope) -> Bool {
        state.withLock { $0.keys.contains { $0.digest == key.digest && $0.scopes.contains(scope) } }
    }

    public func reload() {
        let stamp = KeyRing.stamp(path)
        guard state.withLock({ $0.stamp != stamp }) else { return }
        do throws(KeyFileFault) {
            let keys = try KeyRing.read(path)
            let isNew = state.withLock { state in
                defer {
                    if state.keys != keys { state.generation += 1 }
                    (state.keys, state.stamp, state.fault) = (keys, stamp, nil)
                }
                return state.keys != keys || state.fault != nil
            }
            if isNew { log.info("API keys were read again", .field("path", path), .field("keys", keys.count)) }
        } catch {
            let isNew = state.withLock { state in
                defer { (state.stamp, state.fault) = (stamp, error) }
                return state.fault != error
            }
            guard isNew else { return }
            log.error(
                "the file of API keys cannot be used; the keys read before stay in force", .field("path", path),
                .error(error), .hint("mend the file; it is looked at again as soon as it changes"))
        }
    }

    private static func stamp(_ path: String) -> Stamp? {
        var status = Glibc.stat()
        guard stat(path, &status) == 0 else { return nil }
        return Stamp(
            device: status.st_dev, inode: status.st_ino, bytes: status.st_size, seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec)
    }

    private static func read(_ path: String) throws(KeyFileFault) -> [APIKey] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw KeyFileFault(line: nil, problem: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while content.count <= KeyFile.maxBytes {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw KeyFileFault(line: nil, problem: String(cString: strerror(errno))) }
            if count == 0 { break }
            content += chunk[..<count]
        }
        return try KeyFile.parse(content)
    }
}
