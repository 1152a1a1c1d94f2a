import COpenSSL

/// Stands for a token in journals and logs: 12 hex digits of its SHA-256, too few to be turned back.
public enum Fingerprint {
    /// - Parameter token: hex, in either case.
    public static func of(token: String) -> String {
        let bytes = Array(token.lowercased().utf8)
        var digest = [UInt8](repeating: 0, count: 32)
        _ = SHA256(bytes, bytes.count, &digest)
        return digest.prefix(6).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
