import Glibc

/// Reads a file that fits into memory many times over, such as a schema.
enum SmallFile {
    static let maxBytes = 1 << 20

    static func read(_ path: String) throws(SettingFault) -> [UInt8] {
        guard let file = fopen(path, "re") else {
            throw SettingFault(
                key: path, problem: "\(path) cannot be opened (\(String(cString: strerror(errno))))",
                remedy: "check the path and its permissions")
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: maxBytes + 1)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0, count <= maxBytes else {
            throw SettingFault(
                key: path, problem: "\(path) cannot be read, or has more than \(maxBytes) bytes",
                remedy: "name a file, not a folder")
        }
        return Array(bytes.prefix(count))
    }
}
