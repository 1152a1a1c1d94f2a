import Glibc

/// The key that a caller of the HTTP API has.
enum APIKey {
    private static let mostBytes = 4_096

    /// - Parameter place: a file, or `credential:NAME` for one that systemd has laid down.
    static func read(_ place: String) throws -> String {
        var path = place
        if place.hasPrefix("credential:") {
            guard let folder = getenv("CREDENTIALS_DIRECTORY") else {
                throw CommandFault(
                    .configuration, "--keyFile: \(place) needs CREDENTIALS_DIRECTORY, and it is not set",
                    remedy: "start it with systemd-run --property=LoadCredential=…, or name a file")
            }
            path = "\(String(cString: folder))/\(place.dropFirst("credential:".count))"
        }
        guard let file = fopen(path, "re") else {
            throw CommandFault(
                .configuration, "--keyFile: \(path) cannot be opened (\(String(cString: strerror(errno))))",
                remedy: "check the path and its permissions")
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: mostBytes)
        let count = fread(&bytes, 1, bytes.count, file)
        // As in api.keysFile the key is a line's last word, so that a line of that can be given.
        let lines = String(decoding: bytes.prefix(count), as: UTF8.self).split(whereSeparator: \.isNewline)
        let line = lines.first { !$0.hasPrefix("#") && $0.contains { !$0.isWhitespace } }
        guard let key = line?.split(whereSeparator: \.isWhitespace).last else {
            throw CommandFault(
                .configuration, "--keyFile: \(path) holds no key", remedy: "write the key into it, a line")
        }
        return String(key)
    }
}
