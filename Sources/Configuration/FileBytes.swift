import Glibc

/// Why a file could not be read.
struct UnreadableFile: Error {
    let problem: String
}

enum FileBytes {
    /// A file's content, up to `maxBytes`.
    static func read(_ path: String, maxBytes: Int) throws(UnreadableFile) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw UnreadableFile(problem: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while content.count < maxBytes {
            let count = Glibc.read(descriptor, &chunk, min(chunk.count, maxBytes - content.count))
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw UnreadableFile(problem: String(cString: strerror(errno))) }
            if count == 0 { break }
            content += chunk[..<count]
        }
        return content
    }
}

enum ProcessEnvironment {
    /// The variables this process was started with. `environ` is a global that Swift 6 cannot prove safe; the kernel
    /// keeps the same bytes, and nobody here changes them later.
    static var variables: [String: String] {
        guard let bytes = try? FileBytes.read("/proc/self/environ", maxBytes: 8 << 20) else { return [:] }
        var variables: [String: String] = [:]
        for entry in bytes.split(separator: 0) {
            guard let equals = entry.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = String(decoding: entry[..<equals], as: UTF8.self)
            variables[name] = String(decoding: entry[entry.index(after: equals)...], as: UTF8.self)
        }
        return variables
    }
}
