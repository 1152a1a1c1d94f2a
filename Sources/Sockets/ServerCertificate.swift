import COpenSSL
import Glibc

/// A certificate chain and its private key as PEM, in memory: a server's, or a client's that its server asks for.
public struct ServerCertificate: Sendable {
    package let chainPEM: [UInt8]
    package let keyPEM: [UInt8]
    /// Of a certificate that was made here: the authority that a client has to trust.
    public let authorityPEM: [UInt8]?

    public init(chainPEM: [UInt8], keyPEM: [UInt8]) {
        self.init(chainPEM: chainPEM, keyPEM: keyPEM, authorityPEM: nil)
    }

    init(chainPEM: [UInt8], keyPEM: [UInt8], authorityPEM: [UInt8]?) {
        self.chainPEM = chainPEM
        self.keyPEM = keyPEM
        self.authorityPEM = authorityPEM
    }

    public static func load(chainFile: String, keyFile: String) throws(TLSFault) -> ServerCertificate {
        ServerCertificate(chainPEM: try read(chainFile), keyPEM: try read(keyFile))
    }

    /// A certificate for these DNS names and IP addresses (EC P-256, valid from yesterday for a year), signed by an authority made with it
    /// and forgotten: `authorityPEM` can vouch for this certificate and for no other.
    public static func make(names: [String]) throws(TLSFault) -> ServerCertificate {
        let alternatives = try names.map(alternativeName).joined(separator: ",")
        guard !alternatives.isEmpty else { throw TLSFault(problem: "a server certificate needs at least one name") }
        let authority = try CertificateMaking.make(
            subject: "Waypulse test authority", signedBy: nil,
            extensions: [
                (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
                (NID_subject_key_identifier, "hash"),
            ])
        let server = try CertificateMaking.make(
            subject: names[0], signedBy: authority,
            extensions: [
                (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, "serverAuth,clientAuth"), (NID_subject_alt_name, alternatives),
                (NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid"),
            ])
        return ServerCertificate(
            chainPEM: try server.certificatePEM(), keyPEM: try server.keyPEM(),
            authorityPEM: try authority.certificatePEM())
    }

    private static func alternativeName(_ name: String) throws(TLSFault) -> String {
        // OpenSSL reads a little language here; nothing but names may get through.
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "*"),
                UInt8(ascii: ":"):
                true
            default: false
            }
        }
        guard isPlain, !name.isEmpty else {
            throw TLSFault(problem: "certificate name \"\(name)\" is neither a DNS name nor an IP address")
        }
        return (SocketAddress(numeric: name, port: 0) == nil ? "DNS:" : "IP:") + name
    }

    private static func read(_ path: String) throws(TLSFault) -> [UInt8] {
        do {
            return try readFile(path)
        } catch {
            throw TLSFault(problem: "cannot read \(path): \(SystemFault.text(error.errorNumber))")
        }
    }
}

package func readFile(_ path: String) throws(SystemFault) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw SystemFault(call: "open") }
    defer { close(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16_384)
    while true {
        let count = Glibc.read(file, &piece, piece.count)
        guard count >= 0 else { throw SystemFault(call: "read") }
        guard count > 0 else { return bytes }
        bytes += piece[..<count]
    }
}
