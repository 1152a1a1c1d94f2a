import COpenSSL

/// A key for provider tokens as the portal knows it: who may sign with it, and for what.
public struct ProviderKey: Sendable {
    public let identifier: String
    public let teamIdentifier: String
    /// Older team keys cover both.
    public let environments: Set<APNsEnvironment>
    /// Bundle ids of a topic-scoped key; nil makes it team-scoped: it covers every app of the team.
    public let topics: Set<String>?
    /// The one other topic-scoped key that may share a connection with this one.
    public let relatedIdentifier: String?
    let publicKey: VerifyingKey

    /// - Parameter publicKeyPEM: SubjectPublicKeyInfo of a P-256 key.
    /// - Throws: `KeyFault` where the text holds no such key.
    public init(
        identifier: String, teamIdentifier: String, publicKeyPEM: [UInt8],
        environments: Set<APNsEnvironment> = Set(APNsEnvironment.allCases), topics: Set<String>? = nil,
        relatedIdentifier: String? = nil
    ) throws(KeyFault) {
        self.identifier = identifier
        self.teamIdentifier = teamIdentifier
        self.environments = environments
        self.topics = topics
        self.relatedIdentifier = relatedIdentifier
        publicKey = try VerifyingKey(publicKeyPEM: publicKeyPEM)
    }

    /// Whether both may be used on one connection.
    func isRelated(to other: ProviderKey) -> Bool {
        if identifier == other.identifier { return true }
        guard teamIdentifier == other.teamIdentifier else { return false }
        if topics == nil && other.topics == nil { return true }
        return relatedIdentifier == other.identifier || other.relatedIdentifier == identifier
    }

    func covers(bundleIdentifier: String) -> Bool {
        topics?.contains(bundleIdentifier) ?? true
    }
}

public struct KeyFault: Error, CustomStringConvertible {
    public let problem: String
    public var description: String { problem }
}

/// A public P-256 key that checks ES256 signatures (RFC 7518, section 3.4).
final class VerifyingKey: @unchecked Sendable {
    // Never changed after init; OpenSSL counts references to it with atomics.
    private let key: OpaquePointer

    init(publicKeyPEM: [UInt8]) throws(KeyFault) {
        // The BIO keeps the pointer, so the bytes are lent to all that uses it.
        let parsed: OpaquePointer? = publicKeyPEM.withUnsafeBytes { bytes in
            let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
            defer { BIO_free(bio) }
            return PEM_read_bio_PUBKEY(bio, nil, nil, nil)
        }
        guard let key = parsed else {
            ERR_clear_error()
            throw KeyFault(problem: "no public key in this PEM text; a SubjectPublicKeyInfo of a P-256 key is needed")
        }
        guard EVP_PKEY_get_bits(key) == 256, EVP_PKEY_get_base_id(key) == EVP_PKEY_EC else {
            EVP_PKEY_free(key)
            throw KeyFault(problem: "the key is not on curve P-256, which ES256 demands")
        }
        self.key = key
    }

    deinit {
        EVP_PKEY_free(key)
    }

    /// - Parameter signature: R‖S, 64 bytes; anything else (such as DER) is refused.
    func verifies(_ message: some Collection<UInt8>, signature: [UInt8]) -> Bool {
        guard signature.count == 64, let der = VerifyingKey.der(of: signature) else { return false }
        let context = EVP_MD_CTX_new()
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else { return false }
        let bytes = Array(message)
        return EVP_DigestVerify(context, der, der.count, bytes, bytes.count) == 1
    }

    private static func der(of signature: [UInt8]) -> [UInt8]? {
        guard let pair = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(pair) }
        let r = signature.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress, 32, nil) }
        let s = signature.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress! + 32, 32, nil) }
        guard ECDSA_SIG_set0(pair, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            return nil
        }
        var der = [UInt8](repeating: 0, count: Int(i2d_ECDSA_SIG(pair, nil)))
        der.withUnsafeMutableBufferPointer { buffer in
            var end = buffer.baseAddress
            _ = i2d_ECDSA_SIG(pair, &end)
        }
        return der
    }
}
