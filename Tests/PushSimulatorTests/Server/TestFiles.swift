import Glibc

enum TestFiles {
    struct Unreadable: Error {
        let path: String
    }

    static func read(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { throw Unreadable(path: path) }
        defer { close(descriptor) }
        return readAll(descriptor)
    }

    /// Until the end of the file or stream.
    static func readAll(_ descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = Glibc.read(descriptor, &chunk, chunk.count), count > 0 { bytes += chunk.prefix(count) }
        return bytes
    }

    static func mode(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    /// The directory and the three files that the simulator puts there.
    static func remove(_ directory: String) {
        for name in ["ca.pem", "AuthKey_S1MK3YWAYP.p8", "journal.jsonl"] { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }
}
